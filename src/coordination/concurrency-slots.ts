/** Slots of running requests: leases that end by themselves, so that a slot that nobody frees comes back. */
import { REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";

/** How long a lease lives after its start or the last heartbeat. */
export const LEASE_TTL_MS = 30_000;
/** How long heartbeats can keep a lease: above the longest request, so that only a forgotten one gets there. */
export const LEASE_AGE_MAX_MS = REQUEST_TOTAL_MS_MAX + 300_000;

/**
 * Leases by request, oldest first: an older one never outlives a newer one, so that only the first have to be looked
 * at.
 */
export class Leases {
  readonly #startsMs = new Map<string, number>();

  /** The leases that live. */
  count(nowMs: number, beatMs: number): number {
    for (const [requestId, startMs] of this.#startsMs) {
      const endMs = Math.min(Math.max(startMs, beatMs) + LEASE_TTL_MS, startMs + LEASE_AGE_MAX_MS);
      if (nowMs < endMs) break;
      this.#startsMs.delete(requestId);
    }
    return this.#startsMs.size;
  }

  has(requestId: string): boolean {
    return this.#startsMs.has(requestId);
  }

  take(requestId: string, nowMs: number): void {
    if (!this.#startsMs.has(requestId)) this.#startsMs.set(requestId, nowMs);
  }

  release(requestId: string): void {
    this.#startsMs.delete(requestId);
  }
}
