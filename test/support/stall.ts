/** Holds the event loop, as a suspended process or a long computation would. */

/** Nothing of this thread runs for so long; what others send meanwhile lies in sockets. */
export function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
