/** Latencies, kept one by one and told as percentiles. */

/**
 * @typedef {object} Latency In milliseconds.
 * @property {number} count
 * @property {number} p50
 * @property {number} p99
 * @property {number} max
 */

/** Latencies of a run, also by windows of time. */
export class LatencyRecord {
  /** @param {number} windowSeconds 0: no windows. */
  constructor(windowSeconds) {
    this.windowSeconds = windowSeconds;
    /** @type {number[]} */
    this.values = [];
    /** @type {number[][]} */
    this.byWindow = [];
  }

  /**
   * @param {number} ms
   * @param {number} atMs When it ended, from the start of the run.
   */
  add(ms, atMs) {
    this.values.push(ms);
    if (this.windowSeconds > 0) (this.byWindow[Math.floor(atMs / 1000 / this.windowSeconds)] ??= []).push(ms);
  }

  /** @returns {Latency} */
  all() {
    return latencyOf(this.values);
  }

  /** @returns {Latency[]} */
  windows() {
    return Array.from(this.byWindow, (values) => latencyOf(values ?? []));
  }
}

/**
 * @param {readonly number[]} values
 * @returns {Latency}
 */
export function latencyOf(values) {
  const sorted = Float64Array.from(values).sort();
  const at = (/** @type {number} */ share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}

/**
 * The middle value; NaN of none.
 * @param {readonly number[]} values
 */
export function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).toSorted((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}
