/** How many values fell under which bound, as plain numbers, which two threads can share. */

/** Bounds of times of requests, in seconds. */
export const SECONDS_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];

/** Bounds of times of what should take milliseconds, in seconds. */
export const SHORT_SECONDS_BOUNDS: readonly number[] = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
];

/**
 * Counts values by the bounds that they do not exceed. One thread may note while another reads: what the other reads is
 * at most a value behind in one of its numbers.
 */
export class Distribution {
  /** Of each bound what fell under it but not under the one before, then the rest, then the sum of all. */
  readonly cells: Float64Array;

  constructor(
    readonly bounds: readonly number[],
    memory: ArrayBufferLike = new ArrayBuffer((bounds.length + 2) * Float64Array.BYTES_PER_ELEMENT),
  ) {
    this.cells = new Float64Array(memory);
  }

  /** One whose memory, `cells.buffer`, can be given to another thread. */
  static ofThreads(bounds: readonly number[]): Distribution {
    return new Distribution(bounds, new SharedArrayBuffer((bounds.length + 2) * Float64Array.BYTES_PER_ELEMENT));
  }

  note(value: number): void {
    const { bounds, cells } = this;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] ?? 0)) place += 1;
    cells[place] = (cells[place] ?? 0) + 1;
    cells[bounds.length + 1] = (cells[bounds.length + 1] ?? 0) + value;
  }

  get sum(): number {
    return this.cells[this.bounds.length + 1] ?? 0;
  }
}
