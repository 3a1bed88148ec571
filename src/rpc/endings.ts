/** Ends requests that run where their key or account may go on no more: nothing is looked at while nothing changes. */
import type { Roster } from "../api/roster.js";
import type { Caller } from "../keys/caller.js";
import { type Change, concerns } from "../keys/endings.js";
import type { CoreParts } from "./core.js";
import { type Lifetime, TIMER_MS_MAX } from "./lifetime.js";

export class Endings {
  readonly #core: Pick<CoreParts, "keys" | "replays" | "nowMs" | "log">;
  readonly #running: Roster<Lifetime>;
  /** By key: when it is looked at because it expires. */
  readonly #expiries = new Map<string, NodeJS.Timeout>();

  constructor(core: Pick<CoreParts, "keys" | "replays" | "nowMs" | "log">, running: Roster<Lifetime>) {
    this.#core = core;
    this.#running = running;
    // Whatever begins after a change asks for its caller after it too, so that one look is enough.
    core.keys.onChange((change) => void this.#review(change));
  }

  /** Looks at what runs of the key once it expires. */
  watchExpiry({ keyId, settings }: Caller): void {
    if (settings.expireTime !== undefined && !this.#expiries.has(keyId))
      this.#lookAt(keyId, settings.expireTime.getTime());
  }

  #lookAt(keyId: string, timeMs: number): void {
    clearTimeout(this.#expiries.get(keyId));
    this.#expiries.delete(keyId);
    const waitMs = Math.max(0, timeMs - this.#core.nowMs());
    if (waitMs > TIMER_MS_MAX) return;
    const look = (): void => {
      this.#expiries.delete(keyId);
      void this.#review({ keyId });
    };
    this.#expiries.set(keyId, setTimeout(look, waitMs).unref());
  }

  /** Never rejects. */
  async #review(change: Change): Promise<void> {
    const callers = new Map<string, Caller>();
    const take = (caller: Caller | undefined): void => {
      if (caller !== undefined && concerns(change, caller)) callers.set(caller.keyId, caller);
    };
    for (const { caller } of this.#running) take(caller);
    for (const caller of this.#core.replays?.callers() ?? []) take(caller);
    for (const caller of callers.values()) {
      try {
        const { error, atMs } = await this.#core.keys.endingOf(caller);
        if (error === undefined) {
          this.#lookAt(caller.keyId, atMs);
          continue;
        }
        this.#core.replays?.end(caller.keyId, error);
        for (const lifetime of this.#running) if (lifetime.caller?.keyId === caller.keyId) lifetime.end(error);
      } catch (err) {
        this.#core.log?.error({ err, key_id: caller.keyId }, "the requests of a key that changed were not looked at");
      }
    }
  }
}
