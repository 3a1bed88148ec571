/** Ends requests that run where their key or account may go on no more: nothing is looked at while nothing changes. */
import type { Roster } from "../../base/roster.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { type Change, concerns } from "../../keys/endings.js";
import { Singleflight } from "../../keys/singleflight.js";
import type { CoreParts } from "./core.js";
import { type CallSession, type Lifetime, TIMER_MS_MAX } from "./lifetime.js";

const SWEEP_MS = 60_000;

export class Endings {
  readonly #core: Pick<CoreParts, "keys" | "replays" | "nowMs" | "log">;
  #sweep: NodeJS.Timeout | undefined;
  readonly #running: Roster<Lifetime>;
  /** By key. */
  readonly #looks = new Singleflight<string>();
  /** By key: when it is looked at because it expires. */
  readonly #expiries = new Map<string, NodeJS.Timeout>();

  constructor(core: Pick<CoreParts, "keys" | "replays" | "nowMs" | "log">, running: Roster<Lifetime>) {
    this.#core = core;
    this.#running = running;
    // Whatever begins after a change asks for its caller after it too, so that one look is enough.
    core.keys.onChange((change) => {
      void this.#review(change);
      if ("userId" in change) void this.#reviewSessions(change.userId);
      else if ("any" in change) void this.#reviewSessions(undefined);
    });
  }

  /** Looks at what runs of sessions while anything does: a session that nobody ends is over by its age. */
  watchSessions(): void {
    if (this.#sweep !== undefined) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = undefined;
      void this.#reviewSessions(undefined);
      for (const { session } of this.#running) if (session !== undefined) return this.watchSessions();
    }, SWEEP_MS).unref();
  }

  /** Of one person, or of everybody. Never rejects. */
  async #reviewSessions(userId: string | undefined): Promise<void> {
    const concerned = [...this.#running].filter(({ session }) => isOf(session, userId));
    for (const lifetime of concerned) {
      try {
        await lifetime.session?.check();
      } catch (error) {
        // A store that is away ends nothing, as with keys.
        const refusal = GatewayError.from(error);
        if (refusal.http < 500) this.#endSession(lifetime, refusal);
        else this.#core.log?.error({ err: error }, "a session whose person changed was not looked at");
      }
    }
  }

  #endSession(lifetime: Lifetime, refusal: GatewayError): void {
    lifetime.end(refusal);
    // An answer that is kept for whoever asks again goes on without its caller.
    if (lifetime.caller !== undefined) this.#core.replays?.end(lifetime.caller.keyId, refusal);
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
    for (const caller of callers.values()) await this.#reviewKey(caller);
  }

  /** Never rejects. */
  #reviewKey(caller: Caller): Promise<void> {
    const { keyId } = caller;
    return this.#looks.changed(keyId, async () => {
      try {
        await this.#endWhatMust(caller);
      } catch (err) {
        this.#core.log?.error({ err, key_id: keyId }, "the requests of a key that changed were not looked at");
      }
    });
  }

  async #endWhatMust(caller: Caller): Promise<void> {
    const { keyId } = caller;
    const { error, atMs } = await this.#core.keys.endingOf(caller);
    if (error === undefined) return this.#lookAt(keyId, atMs);
    this.#core.replays?.end(keyId, error);
    for (const lifetime of this.#running) if (lifetime.caller?.keyId === keyId) lifetime.end(error);
  }
}

/** While a session is looked up nobody knows whose it is. */
function isOf(session: CallSession | undefined, userId: string | undefined): boolean {
  if (session === undefined) return false;
  return userId === undefined || session.userId === undefined || session.userId === userId;
}
