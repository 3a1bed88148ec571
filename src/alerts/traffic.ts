/** What a node's requests came to in the last hour, by the minute: few numbers for each account, model and upstream. */

const MINUTE_MS = 60_000;
const MINUTES_KEPT = 60;
/** Of a minute; what has no place of its own is not counted. */
const PLACES_MAX = 2_000;
/** Each bucket of times is a tenth wider than the one before. */
const STEP = Math.log(1.1);

/** A request that ended, as far as alerts look at it. */
export interface TrafficSample {
  readonly accountId: string;
  readonly model: string;
  readonly upstream: string;
  /** True where the gateway or its upstreams failed. */
  readonly isError: boolean;
  readonly firstTokenMs: number | undefined;
  readonly endTimeMs: number;
}

interface Place {
  readonly accountId: string;
  readonly model: string;
  readonly upstream: string;
  requests: number;
  errors: number;
  /** How many first tokens came in each bucket of times. */
  readonly times: Map<number, number>;
}

export interface TrafficSum {
  readonly requests: number;
  readonly errors: number;
  readonly firstTokens: number;
  /** Nineteen of twenty first tokens were no slower, to a tenth; 0 where there were none. */
  readonly firstTokenMs: number;
}

export type TrafficFilter = (place: Pick<Place, "accountId" | "model" | "upstream">) => boolean;

export class Traffic {
  readonly #minutes = new Map<number, Map<string, Place>>();

  /** On the way of a request: one look-up and a few additions. */
  add({ accountId, model, upstream, isError, firstTokenMs, endTimeMs }: TrafficSample): void {
    const minute = Math.floor(endTimeMs / MINUTE_MS);
    let places = this.#minutes.get(minute);
    if (places === undefined) places = this.#begin(minute);
    const name = `${accountId} ${upstream} ${model}`;
    let place = places.get(name);
    if (place === undefined) {
      if (places.size >= PLACES_MAX) return;
      place = { accountId, model, upstream, requests: 0, errors: 0, times: new Map() };
      places.set(name, place);
    }
    place.requests += 1;
    if (isError) place.errors += 1;
    if (firstTokenMs === undefined) return;
    const bucket = Math.ceil(Math.log(Math.max(1, firstTokenMs)) / STEP);
    place.times.set(bucket, (place.times.get(bucket) ?? 0) + 1);
  }

  /** Of the last minutes, this one among them. */
  sum(minutes: number, nowMs: number, filter: TrafficFilter): TrafficSum {
    const from = Math.floor(nowMs / MINUTE_MS) - minutes + 1;
    const times = new Map<number, number>();
    const sum = { requests: 0, errors: 0, firstTokens: 0 };
    for (const [minute, places] of this.#minutes) {
      if (minute < from) continue;
      for (const place of places.values()) {
        if (!filter(place)) continue;
        sum.requests += place.requests;
        sum.errors += place.errors;
        for (const [bucket, count] of place.times) {
          sum.firstTokens += count;
          times.set(bucket, (times.get(bucket) ?? 0) + count);
        }
      }
    }
    return { ...sum, firstTokenMs: slowest(times, sum.firstTokens) };
  }

  #begin(minute: number): Map<string, Place> {
    const places = new Map<string, Place>();
    this.#minutes.set(minute, places);
    for (const old of this.#minutes.keys()) if (old <= minute - MINUTES_KEPT) this.#minutes.delete(old);
    return places;
  }
}

/** The upper end of the bucket that the nineteenth of twenty stands in. */
function slowest(times: ReadonlyMap<number, number>, count: number): number {
  let left = Math.ceil(count * 0.95);
  for (const bucket of [...times.keys()].toSorted((a, b) => a - b)) {
    left -= times.get(bucket) ?? 0;
    if (left <= 0) return Math.round(Math.exp(bucket * STEP));
  }
  return 0;
}
