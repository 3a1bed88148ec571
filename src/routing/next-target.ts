/** Where a request goes next, and what its client is told once no target is left. */
import type { GatewayError } from "../base/errors.js";
import type { SessionRoute } from "./affinity.js";
import type { Balancing } from "./balance.js";
import { nextAfter, nobody, withEarliest } from "./failure-policy.js";
import type { Target } from "./model.js";
import { pickOfSession, pickProbe, pickTarget } from "./pick.js";

/** A request on its way through the targets of its model. */
export interface Trying {
  readonly targets: readonly Target[];
  readonly tried: Target[];
  readonly accountId: string;
  readonly session: SessionRoute | undefined;
  /** Undefined for a model that goes by weight. */
  readonly balancing: Balancing | undefined;
}

/**
 * The target to ask next, if `skipped` cannot take the request: one that is well, the last one again where that can
 * help, else one that is ejected. `last` is the failure of the attempt before.
 */
export function nextTarget(
  { targets, tried, accountId, session, balancing }: Trying,
  skipped: readonly Target[],
  last: GatewayError | undefined,
  nowMs: number,
  random: () => number,
): Target | undefined {
  const open = skipped.length === 0 ? targets : targets.filter((target) => !skipped.includes(target));
  const well =
    session === undefined
      ? pickTarget(open, tried, nowMs, accountId, random, balancing)
      : pickOfSession(open, tried, nowMs, accountId, session, balancing);
  if (well !== undefined) return well;
  const isWell = (target: Target): boolean => !skipped.includes(target) && target.health.admits(nowMs, accountId);
  const again = last !== undefined && nextAfter(last).repeats ? tried.find(isWell) : undefined;
  return again ?? pickProbe(open, tried, nowMs, accountId);
}

/**
 * What the client is told: that we are not let in only where that holds of every target. `full` says that targets were
 * skipped, because their limits are reached.
 */
export function verdict(
  told: GatewayError | undefined,
  full: GatewayError | undefined,
  { targets, tried, accountId }: Trying,
  nowMs: number,
): GatewayError {
  if (told !== undefined && told.reason !== "ERROR_REASON_UPSTREAM_CREDENTIAL") {
    const others = targets.filter((target) => target !== tried.at(-1));
    return withEarliest(told, others, nowMs, accountId);
  }
  if (full !== undefined) return full;
  const untried = targets.filter((target) => !tried.includes(target));
  if (told !== undefined && untried.length === 0) return told;
  const withheld = nobody(untried, nowMs, accountId);
  return withheld.reason === "ERROR_REASON_UPSTREAM_CREDENTIAL" ? (told ?? withheld) : withheld;
}
