/** Bytes where other threads see them too. */
import { setImmediate } from "node:timers/promises";

/** How much is copied in one turn of the event loop: under a millisecond. */
const COPIED_BYTES = 1024 * 1024;
/** Of so many bytes that are shared one is counted. */
export const COUNTED_SHARE = 8;
const counted = Symbol("counted");
/** `Buffer.copy` of Node 20 is `TypedArray.set`. */
const copyIsSet = Number.parseInt(process.versions.node, 10) < 22;

/** The pieces as one, in memory that threads share, copied a megabyte a turn. One that is there already stays. */
export async function sharedBytes(pieces: readonly Buffer[], bytes: number): Promise<Buffer> {
  const [first] = pieces;
  if (pieces.length === 1 && first?.buffer instanceof SharedArrayBuffer) return first;
  const shared = emptySharedBytes(bytes);
  let at = 0;
  let copiedBytes = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += COPIED_BYTES) {
      if (copiedBytes >= COPIED_BYTES) {
        copiedBytes = 0;
        await setImmediate();
      }
      const copied = copyShared(piece, shared, at, from, from + COPIED_BYTES);
      at += copied;
      copiedBytes += copied;
    }
  }
  return shared;
}

/**
 * Fresh pages take no memory until they are written to. Pages that the allocator had before are zeroed at once, and so
 * take all of it: whoever announces bytes needs room for them.
 */
export function emptySharedBytes(bytes: number): Buffer {
  const memory = new SharedArrayBuffer(bytes);
  countShared(memory);
  return Buffer.from(memory);
}

/**
 * Lets V8 count a part of the memory for this thread, for as long as the thread has it. V8 counts shared memory for no
 * thread, so that what is dead made it collect nothing: 32 callers with bodies of 900 KB left 2.4 GB of them. Where it
 * counted all of it, it would collect the whole heap for every 64 MiB of bodies.
 */
export function countShared(memory: SharedArrayBuffer & { [counted]?: Buffer }): void {
  // It is never written to, so that it takes no memory itself.
  memory[counted] ??= Buffer.allocUnsafeSlow(Math.ceil(memory.byteLength / COUNTED_SHARE));
}

/**
 * As `Buffer.copy`, where memory that threads share is on either side. `TypedArray.set`, and with it `copy` on Node 20,
 * moves that in small steps: 13 to 33 µs for 64 KB, which take 1.7 as one block.
 */
export function copyShared(source: Buffer, target: Buffer, at: number, start = 0, end = source.length): number {
  if (!copyIsSet || !(isShared(source) || isShared(target))) return source.copy(target, at, start, end);
  const bytes = Math.min(end - start, source.length - start, target.length - at);
  // To fill with nothing is to fill with zeros.
  if (bytes <= 0) return 0;
  target.fill(source.subarray(start, start + bytes), at, at + bytes);
  return bytes;
}

function isShared({ buffer }: Buffer): boolean {
  return buffer instanceof SharedArrayBuffer;
}
