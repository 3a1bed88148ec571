/** Latencies as percentiles. */
import { createHistogram } from "node:perf_hooks";

/**
 * @typedef {object} Latency In milliseconds.
 * @property {number} count
 * @property {number} p50
 * @property {number} p99
 * @property {number} max
 */

const NANOS = 1e6;
/** In nanoseconds: to a quarter of an hour, to a ten-thousandth, for streams of ten seconds differ by milliseconds. */
const BOUNDS = { lowest: 1, highest: 1e12, figures: 4 };

/**
 * Latencies of a run, also by windows of time. They are counted, not kept: millions of numbers in the driver would take
 * its collector longer and longer, and that would be told as the subject's latency.
 */
export class LatencyRecord {
  #all = createHistogram(BOUNDS);
  #window = createHistogram(BOUNDS);
  /**
   * The windows that are over.
   * @type {Latency[]}
   */
  #windows = [];

  /** @param {number} windowSeconds 0: no windows. */
  constructor(windowSeconds) {
    this.windowSeconds = windowSeconds;
  }

  /**
   * @param {number} ms
   * @param {number} atMs When it ended, from the start of the run; never before the one before.
   */
  add(ms, atMs) {
    const nanos = Math.max(1, Math.round(ms * NANOS));
    this.#all.record(nanos);
    if (this.windowSeconds <= 0) return;
    while (atMs >= (this.#windows.length + 1) * this.windowSeconds * 1000) this.#endWindow();
    this.#window.record(nanos);
  }

  /** @returns {Latency} */
  all() {
    return latencyIn(this.#all);
  }

  /** @returns {Latency[]} */
  windows() {
    if (this.#window.count > 0) this.#endWindow();
    return this.#windows;
  }

  #endWindow() {
    this.#windows.push(latencyIn(this.#window));
    this.#window.reset();
  }
}

/**
 * @param {import("node:perf_hooks").RecordableHistogram} histogram
 * @returns {Latency}
 */
function latencyIn(histogram) {
  const { count } = histogram;
  if (count === 0) return { count, p50: 0, p99: 0, max: 0 };
  return {
    count,
    p50: histogram.percentile(50) / NANOS,
    p99: histogram.percentile(99) / NANOS,
    max: histogram.max / NANOS,
  };
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
