/** A model's targets: those that can be asked, and the order in which they are tried. */
import type { ModelKind } from "../families/family.js";
import type { HealthState } from "./upstream-health.js";
import { type Balancing, byWeight } from "./balance.js";
import type { SessionRoute } from "./affinity.js";
import type { ServedModel, Target } from "./model.js";

/** The targets that can be asked for this at all. */
export function targetsFor(model: ServedModel, kind: ModelKind): readonly Target[] {
  if (kind === "chat") return model.targets;
  return model.targets.filter((target) => target.served.family.endpoints?.[kind] !== undefined);
}

/** The target to try next: the best priority that has one well and not yet tried, by weight among equals. */
export function pickTarget(
  targets: readonly Target[],
  tried: readonly Target[],
  nowMs: number,
  accountId: string,
  random: () => number,
  balancing?: Balancing,
): Target | undefined {
  const [first] = targets;
  // Most models have one target, and most targets are well.
  if (targets.length === 1) {
    return first !== undefined && !tried.includes(first) && first.health.admits(nowMs, accountId) ? first : undefined;
  }
  const well = wellTargets(targets, tried, nowMs, accountId);
  return balancing === undefined ? byWeight(well, random) : balancing(well, nowMs);
}

/** The same among equals, by the session that the request belongs to. */
export function pickOfSession(
  targets: readonly Target[],
  tried: readonly Target[],
  nowMs: number,
  accountId: string,
  session: SessionRoute,
  balancing?: Balancing,
): Target | undefined {
  return session.pick(wellTargets(targets, tried, nowMs, accountId), nowMs, balancing);
}

/**
 * With nobody else to ask, a target that is ejected is asked all the same, as often as it may be probed; by
 * priority.
 */
export function pickProbe(
  targets: readonly Target[],
  tried: readonly Target[],
  nowMs: number,
  accountId: string,
): Target | undefined {
  return targets
    .filter((target) => !tried.includes(target) && target.health.nextTryMs(nowMs, accountId) === 0)
    .toSorted((a, b) => a.priority - b.priority)[0];
}

/** Those of which one is tried first; none where nobody is left. */
export function firstTargets(targets: readonly Target[], nowMs: number, accountId: string): readonly Target[] {
  const well = wellTargets(targets, [], nowMs, accountId);
  if (well.length > 0) return well;
  const probe = pickProbe(targets, [], nowMs, accountId);
  return probe === undefined ? [] : [probe];
}

function wellTargets(
  targets: readonly Target[],
  tried: readonly Target[],
  nowMs: number,
  accountId: string,
): readonly Target[] {
  const well = targets.filter((target) => !tried.includes(target) && target.health.admits(nowMs, accountId));
  const weighed = well.filter((target) => target.weight > 0);
  // Targets without a weight are kept for their sessions. Others are served there only where nothing else is well.
  if (weighed.length === 0) return well.filter((target) => target.priority === bestOf(well));
  const best = bestOf(weighed);
  return well.filter((target) => target.priority <= best);
}

function bestOf(targets: readonly Target[]): number {
  return Math.min(...targets.map((target) => target.priority));
}

const HEALTH_ORDER: readonly HealthState[] = ["healthy", "cooling", "refused", "drained"];

/** The targets as they would likely be tried now: whether healthy, by priority, and the likelier first among equals. */
export function likelyOrder(targets: readonly Target[], nowMs: number): readonly Target[] {
  const rank = ({ health }: Target): number => HEALTH_ORDER.indexOf(health.state(nowMs));
  return targets.toSorted((a, b) => rank(a) - rank(b) || a.priority - b.priority || b.weight - a.weight);
}
