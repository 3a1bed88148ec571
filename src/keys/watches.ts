/** Callers that were let in for longer than one request: each hears once its key may begin requests no more. */
import type { CancelSignal } from "../base/cancellation.js";
import { GatewayError } from "../base/errors.js";
import { requireUnfrozen } from "./account-freeze.js";
import type { Caller } from "./caller.js";
import { type Change, concerns } from "./endings.js";
import { Singleflight } from "./singleflight.js";
import { type StandingStore, standingOf } from "./standing.js";

/** What a timer can wait at most; a later end is looked at again then. */
const TIMER_MS_MAX = 2_147_483_647;

interface Watch {
  readonly caller: Caller;
  readonly end: (error: GatewayError) => void;
  timer: NodeJS.Timeout | undefined;
}

export class Watches {
  readonly #store: StandingStore;
  readonly #nowMs: () => number;
  readonly #watches = new Set<Watch>();
  readonly #looks = new Singleflight<Watch>();

  constructor(store: StandingStore, nowMs: () => number) {
    this.#store = store;
    this.#nowMs = nowMs;
  }

  /** Rejects with what the caller's next request is refused with, or as the signal says. */
  watch(caller: Caller, signal: CancelSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(GatewayError.from(signal.reason));
    return new Promise((_resolve, reject) => {
      const watch: Watch = {
        caller,
        timer: undefined,
        end: (error) => {
          clearTimeout(watch.timer);
          this.#watches.delete(watch);
          signal.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      const onAbort = (): void => watch.end(GatewayError.from(signal.reason));
      this.#watches.add(watch);
      signal.addEventListener("abort", onAbort, { once: true });
      void this.#look(watch);
    });
  }

  changed(change: Change): void {
    for (const watch of this.#watches) if (concerns(change, watch.caller)) void this.#look(watch);
  }

  /** Never rejects. */
  #look(watch: Watch): Promise<void> {
    return this.#looks.changed(watch, async () => {
      if (!this.#watches.has(watch)) return;
      try {
        this.#wait(watch, await this.#endOf(watch.caller));
      } catch (error) {
        watch.end(GatewayError.from(error));
      }
    });
  }

  #wait(watch: Watch, endMs: number): void {
    clearTimeout(watch.timer);
    if (endMs === Infinity || !this.#watches.has(watch)) return;
    const waitMs = Math.min(TIMER_MS_MAX, Math.max(0, endMs - this.#nowMs()));
    watch.timer = setTimeout(() => void this.#look(watch), waitMs).unref();
  }

  /** When the key expires, as things stand now. Rejects where it may begin nothing. */
  async #endOf(caller: Caller): Promise<number> {
    const row = await this.#store.keys.get(caller.keyId);
    // As with requests that run: what cannot be found ends nothing, and the next request is refused.
    if (row === undefined) return Infinity;
    const { caller: current, revoked, endMs } = await standingOf(row, this.#store);
    const { hint } = current.key;
    if (revoked) throw new GatewayError("ERROR_REASON_KEY_REVOKED", { key: hint });
    if (endMs <= this.#nowMs())
      throw new GatewayError("ERROR_REASON_KEY_EXPIRED", { key: hint, expired: new Date(endMs).toISOString() });
    requireUnfrozen(current);
    return endMs;
  }
}
