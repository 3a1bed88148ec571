/**
 * Times as a histogram whose buckets grow by a twentieth: two of them are merged by adding, and a percentile is at most
 * 2.5 % away from the time that stands there.
 */
const GROWTH = 1.05;
const LOG_GROWTH = Math.log(GROWTH);
/** Up to a thousand seconds, in tenths of a millisecond; what is longer counts as that. */
const TENTHS_MAX = 10_000_000;
export const BUCKETS = Math.ceil(Math.log(TENTHS_MAX) / LOG_GROWTH) + 2;

const NEAR = 65_536;
/** Made with the first time that is asked for: most threads that load this file ask for none. */
let nearBuckets: Uint16Array | undefined;

/** The bucket of a stored time that is not zero. */
export function bucketOf(stored: number): number {
  const tenths = stored - 1;
  if (tenths >= NEAR) return bucketByLogarithm(tenths);
  nearBuckets ??= Uint16Array.from({ length: NEAR }, (_, near) => bucketByLogarithm(near));
  return nearBuckets[tenths] ?? 0;
}

function bucketByLogarithm(tenths: number): number {
  if (tenths < 1) return 0;
  return 1 + Math.floor(Math.log(Math.min(tenths, TENTHS_MAX)) / LOG_GROWTH);
}

/** Percentiles that are told of times. */
export const SHARES = [0.5, 0.95, 0.99] as const;
/** In milliseconds, in the middle of each bucket, to five digits: more would only make answers longer. */
const bucketMs = Float64Array.from({ length: BUCKETS }, (_, bucket) =>
  bucket === 0 ? 0.05 : Number((GROWTH ** (bucket - 0.5) / 10).toPrecision(5)),
);

/** Percentiles of a group of times. */
export class Sketch {
  readonly #counts = new Uint32Array(BUCKETS);
  /** No time was counted below and above these. */
  #lowest = BUCKETS;
  #highest = -1;
  #total = 0;

  add(bucket: number, times: number): void {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + times;
    this.#total += times;
    if (bucket < this.#lowest) this.#lowest = bucket;
    if (bucket > this.#highest) this.#highest = bucket;
  }

  /** Writes the times of the shares, in milliseconds, and begins anew; without a time nothing is written. */
  take(found: Float64Array, at: number): void {
    const [counts, total] = [this.#counts, this.#total];
    let seen = 0;
    for (let bucket = this.#lowest, share = 0; bucket <= this.#highest && share < SHARES.length; bucket++) {
      seen += counts[bucket] ?? 0;
      for (; share < SHARES.length && seen >= Math.ceil((SHARES[share] ?? 1) * total); share++)
        found[at + share] = bucketMs[bucket] ?? 0;
    }
    counts.fill(0, this.#lowest, this.#highest + 1);
    this.#lowest = BUCKETS;
    this.#highest = -1;
    this.#total = 0;
  }
}
