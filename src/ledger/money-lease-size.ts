/** How large a lease of money is: it grows for a busy key and shrinks for a quiet one. Amounts are in nano-USD. */
import { greater, lesser } from "../base/money.js";

/** How many requests the first lease of a key covers. It is requested at the key's second request. */
const REQUESTS_FIRST = 8n;
/** After a lease that is used up sooner than this, the next is twice its size; after a longer one, half. */
const BRIEF_MS = 500;
const LONG_MS = 2_000;

/** The size of the first lease of a key whose request needs so much. */
export function firstSize(requestNanos: bigint): bigint {
  return requestNanos * REQUESTS_FIRST;
}

/** The size of the lease after one that lasted for `ms`; no larger than `maxNanos`. */
export function nextSize(last: { sizeNanos: bigint; ms: number }, requestNanos: bigint, maxNanos: bigint): bigint {
  let { sizeNanos } = last;
  if (last.ms < BRIEF_MS) sizeNanos *= 2n;
  else if (last.ms > LONG_MS) sizeNanos /= 2n;
  return lesser(greater(sizeNanos, firstSize(requestNanos)), maxNanos);
}
