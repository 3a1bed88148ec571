/** The calls that run: each has its deadline, and a process that stops waits for them before it ends the rest. */
import { Roster } from "../api/roster.js";
import { GatewayError } from "../errors.js";
import type { ArrivedCall, RunningCall, Step } from "./chain.js";
import { Lifetime } from "./lifetime.js";

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

  /** The link of the chain that gives a call its lifetime. It throws as `requireOpen` does. */
  run(next: Step<RunningCall>): Step<ArrivedCall> {
    return (arrived) => {
      this.requireOpen();
      const { route, call } = arrived;
      const lifetime = new Lifetime(call.signal, call.timeoutMs);
      lifetime.isEndless = route.isEndless;
      this.#lifetimes.add(lifetime);
      return lifetime.race(begun({ arrived, lifetime }, next), this.#ended);
    };
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

  readonly #ended = (lifetime: Lifetime): void => {
    this.#lifetimes.remove(lifetime);
    if (this.#lifetimes.size === 0) this.#onIdle?.();
  };
}

/** What is thrown at once is rejected: a call that was added is always removed. */
function begun(call: RunningCall, next: Step<RunningCall>): Promise<unknown> {
  try {
    call.lifetime.signal.throwIfAborted();
    return next(call);
  } catch (error) {
    return Promise.reject(error);
  }
}

function stopping(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "stopping" });
}
