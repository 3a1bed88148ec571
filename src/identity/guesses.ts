/** Slows those who guess: by address, and by the e-mail address that is guessed for, on all nodes together. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import type { Coordination, Demand } from "../coordination/coordination.js";
import { GatewayError } from "../base/errors.js";
import { addressBlock } from "../store/people-rows.js";

/** Tries in any 60 seconds. */
const PER_ADDRESS = 60;
const PER_NAME = 10;
/** After so many failures in a row each further one doubles the wait, up to the longest. */
const FREE_FAILURES = 10;
const WAIT_MS = 1_000;
const WAIT_MS_MAX = 15 * 60_000;
/** The most names with failures that a node remembers. */
const NAMES_MAX = 10_000;
/** What is guessed. The table of windows is shared by these and by keys: none of a key is named so. */
export type Guessed = "sign-in" | "top-up" | "checkout";
const LIMITS = {
  "sign-in": { tries: "sign_in_tries_per_minute", failures: "sign_in_failures", owner: "signing in" },
  "top-up": { tries: "top_up_tries_per_minute", failures: "top_up_failures", owner: "redeeming codes" },
  checkout: { tries: "checkouts_per_minute", failures: "checkout_failures", owner: "paying by card" },
} as const;

interface Failures {
  readonly count: number;
  readonly untilMs: number;
}

export class Guesses {
  readonly #coordination: Pick<Coordination, "admit">;
  readonly #nowMs: () => number;
  readonly #failures = new LRUCache<string, Failures>({ ...boundedTo(NAMES_MAX), ttl: 24 * 3_600_000 });
  #count = 0;

  constructor(
    coordination: Pick<Coordination, "admit">,
    nowMs: () => number,
    private readonly guessed: Guessed = "sign-in",
  ) {
    this.#coordination = coordination;
    this.#nowMs = nowMs;
  }

  /**
   * Counts a try for a name, whose address was counted before. Rejects with RATE_LIMITED, the same for a name that
   * exists and for one that does not.
   */
  async takeName(name: string): Promise<void> {
    const until = this.#failures.get(keyOf(name))?.untilMs ?? 0;
    const waitMs = until - this.#nowMs();
    if (waitMs > 0) throw this.#tooMany(waitMs, "failures", FREE_FAILURES);
    await this.#admit([this.#demand(`name:${keyOf(name)}`, PER_NAME)]);
  }

  /** Counts a try by its address. Rejects with RATE_LIMITED. */
  takeAddress(address: string): Promise<void> {
    return this.#admit([this.#demand(`address:${addressBlock(address)}`, PER_ADDRESS)]);
  }

  async #admit(demands: readonly Demand[]): Promise<void> {
    this.#count += 1;
    const result = await this.#coordination.admit({
      requestId: `${this.guessed}:${this.#count}`,
      accountId: this.guessed,
      demands,
    });
    if (!result.admitted) throw this.#tooMany(result.retryAfterMs, "tries", result.limitValue);
  }

  #demand(subject: string, requestsPerMinute: number): Demand {
    const limits = { requestsPerMinute, tokensPerMinute: 0, concurrency: 0 };
    return { subject: `${this.guessed}:${subject}`, limits, tokens: 0 };
  }

  #tooMany(waitMs: number, limit: "tries" | "failures", value: number): GatewayError {
    const names = LIMITS[this.guessed];
    return new GatewayError("ERROR_REASON_RATE_LIMITED", {
      limit: names[limit],
      limit_value: String(value),
      remaining: "0",
      reset_ms: String(Math.ceil(waitMs)),
      owner: names.owner,
    });
  }

  failed(name: string): void {
    const key = keyOf(name);
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    const over = count - FREE_FAILURES;
    const waitMs = over < 0 ? 0 : Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** Math.min(over, 20));
    this.#failures.set(key, { count, untilMs: this.#nowMs() + waitMs });
  }

  succeeded(name: string): void {
    this.#failures.delete(keyOf(name));
  }
}

/** Of one length whatever the name, which is not kept in memory beyond its call. */
function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url").slice(0, 22);
}

/**
 * Under which name the tries for a person count. Strangers count together, from wherever they come; an address from
 * which the person signed in before counts by itself, so that strangers never keep the person out there.
 */
export function countedAs(email: string, address: string, isKnownAddress: boolean): string {
  return isKnownAddress ? `${email} ${addressBlock(address)}` : email;
}
