/** The search for a target that has room: full ones are skipped, and waited for where they have a queue. */
import { GatewayError } from "../base/errors.js";
import type { Target } from "./model.js";
import type { Entered, Entering, Full, TargetLimiter } from "./target-limiter.js";
import { queueOf } from "./waiting-line.js";

/** One for each request for a model whose targets have limits. */
/** An operator may raise a limit at any time. */
const RETRY_AFTER_MS_MAX = 60_000;

export class RoomSearch {
  #full: readonly Full[] = [];

  /** `pick` returns the target to try next if those are skipped. `waits` is called when the request begins to wait. */
  constructor(
    private readonly limiter: TargetLimiter,
    private readonly pick: (skipped: readonly Target[]) => Target | undefined,
    private readonly entering: () => Entering,
    private readonly waits: () => void,
  ) {}

  /**
   * The next target, with what was taken of its limits; undefined if there is none. A request waits for full targets
   * before it goes to one of a later priority.
   */
  async next(): Promise<Entered | undefined> {
    const full: Full[] = [];
    const awaited = new Set<Full>();
    this.#full = full;
    for (;;) {
      const target = this.pick(full.map((one) => one.target));
      const better = full.filter((one) => {
        const isBefore = target === undefined || one.target.priority < target.priority;
        return isBefore && !awaited.has(one) && queueOf(one) !== undefined;
      });
      if (better.length > 0) {
        for (const one of better) awaited.add(one);
        const entered = await this.limiter.wait(better, this.entering(), this.waits);
        if (entered !== undefined || this.entering().signal.aborted) return this.#unlessLeft(entered);
        continue;
      }
      if (target?.limits === undefined) return target && { target, taken: undefined };
      const result = await this.limiter.enter(target, this.entering());
      if (!("refusedBy" in result)) return this.#unlessLeft({ target, taken: result });
      full.push(result);
    }
  }

  #unlessLeft(entered: Entered | undefined): Entered | undefined {
    if (!this.entering().signal.aborted) return entered;
    entered?.taken?.giveBack();
    return undefined;
  }

  /** Why no target was left to try, if some of them are full. */
  get refusal(): GatewayError | undefined {
    const [first, ...others] = this.#full;
    if (first === undefined) return undefined;
    const soonest = others.reduce((one, other) => (other.retryAfterMs < one.retryAfterMs ? other : one), first);
    const retryAfterMs = Math.min(RETRY_AFTER_MS_MAX, Math.max(1, Math.ceil(soonest.retryAfterMs)));
    return new GatewayError("ERROR_REASON_UPSTREAM_FULL", {
      // What the operator buys, and until when it is spent, is no client's business.
      limit: soonest.limit === "budget" ? "capacity" : soonest.limit,
      retry_after_ms: String(retryAfterMs),
    });
  }
}
