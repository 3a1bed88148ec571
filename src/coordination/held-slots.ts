/** The slots that this node has taken in Redis, so that heartbeats keep them while their requests run. */
import { LEASE_AGE_MAX_MS, LEASE_TTL_MS } from "./concurrency-slots.js";

/** A heartbeat names at most so many requests in one part. */
const REQUESTS_MAX = 500;

interface Slots {
  readonly slot: string;
  /** When each request took its slot, on this node's monotonic clock. */
  readonly startsMs: Map<string, number>;
}

/** What one heartbeat renews of one subject. */
export interface Beat {
  readonly slot: string;
  readonly key: string;
  /** Each request, and for how long from now on. */
  readonly renewals: (string | number)[];
}

export class HeldSlots {
  readonly #byKey = new Map<string, Slots>();

  /** `slot` is where the key lies. */
  take(slot: string, key: string, requestId: string, nowMs: number): void {
    let slots = this.#byKey.get(key);
    if (slots === undefined) this.#byKey.set(key, (slots = { slot, startsMs: new Map() }));
    if (!slots.startsMs.has(requestId)) slots.startsMs.set(requestId, nowMs);
  }

  /** False where it is not held. */
  release(key: string, requestId: string): boolean {
    const slots = this.#byKey.get(key);
    if (slots?.startsMs.delete(requestId) !== true) return false;
    if (slots.startsMs.size === 0) this.#byKey.delete(key);
    return true;
  }

  /** What to renew. A request that has gone on for too long is forgotten: its slot ends by itself. */
  *beats(nowMs: number): Iterable<Beat> {
    for (const [key, { slot, startsMs }] of this.#byKey) {
      let renewals: (string | number)[] = [];
      for (const [requestId, startMs] of startsMs) {
        const leftMs = Math.min(LEASE_TTL_MS, startMs + LEASE_AGE_MAX_MS - nowMs);
        if (leftMs <= 0) this.release(key, requestId);
        else renewals.push(requestId, leftMs);
        if (renewals.length < 2 * REQUESTS_MAX) continue;
        yield { slot, key, renewals };
        renewals = [];
      }
      if (renewals.length > 0) yield { slot, key, renewals };
    }
  }
}
