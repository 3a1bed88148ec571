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
const nearBuckets = Uint16Array.from({ length: NEAR }, (_, tenths) => bucketByLogarithm(tenths));

/** The bucket of a stored time that is not zero. */
export function bucketOf(stored: number): number {
  const tenths = stored - 1;
  return tenths < NEAR ? (nearBuckets[tenths] ?? 0) : bucketByLogarithm(tenths);
}

function bucketByLogarithm(tenths: number): number {
  if (tenths < 1) return 0;
  return 1 + Math.floor(Math.log(Math.min(tenths, TENTHS_MAX)) / LOG_GROWTH);
}

/** In milliseconds, one for each share from 0 to 1, the lowest first; NaN where nothing was counted. */
export function percentiles(counts: Uint32Array, shares: readonly number[]): number[] {
  let total = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) total += counts[bucket] ?? 0;
  const found = shares.map(() => Number.NaN);
  if (total === 0) return found;
  let seen = 0;
  let next = 0;
  for (let bucket = 0; bucket < counts.length && next < shares.length; bucket++) {
    seen += counts[bucket] ?? 0;
    for (; next < shares.length && seen >= Math.max(1, Math.ceil((shares[next] ?? 1) * total)); next++)
      found[next] = bucket === 0 ? 0.05 : GROWTH ** (bucket - 0.5) / 10;
  }
  return found;
}
