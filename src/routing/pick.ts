/** The order in which a model's targets are tried. */
import type { HealthState } from "./health.js";
import type { Target } from "./model.js";

/**
 * The target to try next: the best priority that has a healthy one not yet tried, by weight among equals. Where none is
 * healthy, one that only cools is tried all the same rather than refusing everyone; one that refuses our credential
 * never is.
 */
export function pickTarget(
  targets: readonly Target[],
  tried: readonly Target[],
  nowMs: number,
  random: () => number,
): Target | undefined {
  const [first] = targets;
  // Most models have one target, and most targets are well.
  if (first !== undefined && targets.length === 1 && tried.length === 0 && first.served.health.admits(nowMs)) {
    return first;
  }
  return byWeight(nextTargets(targets, tried, nowMs), random);
}

/** Those of which one is tried next; none where nobody is left. */
export function nextTargets(targets: readonly Target[], tried: readonly Target[], nowMs: number): readonly Target[] {
  const open = targets.filter((target) => !tried.includes(target) && target.served.health.state(nowMs) !== "refused");
  const healthy = open.filter((target) => target.served.health.admits(nowMs));
  if (healthy.length > 0) return bestPriority(healthy);
  // Panic: all cool. The first try goes to the one that is ready soonest; a retry does not insist, and nobody who asked
  // for a wait is pressed.
  if (tried.length > 0) return [];
  const cooling = open.filter((target) => target.served.health.waitMs(nowMs) === 0);
  return cooling.toSorted((a, b) => a.served.health.coolingMs(nowMs) - b.served.health.coolingMs(nowMs)).slice(0, 1);
}

function bestPriority(targets: readonly Target[]): readonly Target[] {
  const best = Math.min(...targets.map((target) => target.priority));
  return targets.filter((target) => target.priority === best);
}

function byWeight(targets: readonly Target[], random: () => number): Target | undefined {
  let left = random() * targets.reduce((sum, target) => sum + target.weight, 0);
  for (const target of targets) {
    left -= target.weight;
    if (left < 0) return target;
  }
  return targets.at(-1);
}

const HEALTH_ORDER: readonly HealthState[] = ["healthy", "cooling", "refused"];

/** The targets as they would likely be tried now: whether healthy, by priority, and the likelier first among equals. */
export function likelyOrder(targets: readonly Target[], nowMs: number): readonly Target[] {
  const rank = ({ served }: Target): number => HEALTH_ORDER.indexOf(served.health.state(nowMs));
  return targets.toSorted((a, b) => rank(a) - rank(b) || a.priority - b.priority || b.weight - a.weight);
}
