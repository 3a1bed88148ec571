/** The calls that run: each has its deadline, and a process that stops waits for them before it ends the rest. */
import { Roster } from "../../base/roster.js";
import { GatewayError } from "../../base/errors.js";
import { Lifetime } from "./lifetime.js";
import type { OpenRoute } from "./route.js";
import type { ServerCall } from "./server-call.js";

/** How long handlers that were told to stop are waited for. */
const CUT_GRACE_MS = 2_000;

export class RunningCalls {
  readonly #lifetimes = new Roster<Lifetime>();
  #onIdle: (() => void) | undefined;
  #draining: Promise<void> | undefined;

  get lifetimes(): Roster<Lifetime> {
    return this.#lifetimes;
  }

  /** Throws OVERLOADED where the process stops. */
  requireOpen(): void {
    if (this.#draining !== undefined) throw stopping();
  }

  /**
   * The lifetime of a call that begins; whoever asks for it waits for the call's work by `ended`. It throws as
   * `requireOpen` does, but for calls that were admitted while their messages were on the way.
   */
  begin({ isEndless }: Pick<OpenRoute, "isEndless">, call: ServerCall): Lifetime {
    if (call.admission === undefined) this.requireOpen();
    const lifetime = new Lifetime(call.signal, call.timeoutMs);
    lifetime.isEndless = isEndless;
    this.#lifetimes.add(lifetime);
    return lifetime;
  }

  /** Resolves or rejects as the work does, or rejects at once where the lifetime ends before it. */
  ended<Value>(lifetime: Lifetime, work: Promise<Value>): Promise<Value> {
    return lifetime.race(work, this.#left);
  }

  /** Refuses new calls, waits for those that run, and ends the rest with OVERLOADED when the time is over. */
  drain(timeoutMs: number): Promise<void> {
    this.#draining ??= this.#drain(timeoutMs);
    return this.#draining;
  }

  async #drain(timeoutMs: number): Promise<void> {
    for (const lifetime of this.#lifetimes) if (lifetime.isEndless) lifetime.end(stopping());
    await this.#idle(timeoutMs);
    for (const lifetime of this.#lifetimes) lifetime.end(stopping());
    await this.#idle(CUT_GRACE_MS);
  }

  #idle(timeoutMs: number): Promise<void> {
    if (this.#lifetimes.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  readonly #left = (lifetime: Lifetime): void => {
    this.#lifetimes.remove(lifetime);
    if (this.#lifetimes.size === 0) this.#onIdle?.();
  };
}

function stopping(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "it is stopping" });
}
