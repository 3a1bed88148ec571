/** The targets of a model as its form has them: in the order in which they are tried, in levels that share requests. */
import type { PriceSpec, TargetSpec } from "../../gen/console/settings_object.js";

export type CostKind = "published" | "own" | "free";

export interface TypedTarget {
  /** Tells it from the others, wherever it stands. */
  readonly key: string;
  readonly upstream: string;
  readonly model: string;
  /** The share among targets of its level. Empty: 1. */
  readonly weight: string;
  /** 1 is tried first. Numbers follow each other without a gap. */
  readonly level: number;
  readonly cost: CostKind;
  readonly costInput: string;
  readonly costOutput: string;
  /** What the form does not show of the cost. */
  readonly costBefore: PriceSpec | undefined;
  /** What the form does not show of the target. */
  readonly rest?: Omit<TargetSpec, "upstream" | "model" | "weight" | "priority" | "cost">;
}

/** A target as a request says it. */
export interface SaidTarget extends Omit<TargetSpec, "cost"> {
  readonly cost: Partial<PriceSpec> | undefined;
}

export type Direction = "up" | "down";
export type DropPosition = "before" | "on" | "after";

const DECIMAL = /^\d+(\.\d{1,6})?$/;
const WEIGHT = /^\d+(\.\d+)?$/;

export function newTarget(targets: readonly TypedTarget[]): TypedTarget {
  const key = String(Math.max(0, ...targets.map((target) => Number(target.key))) + 1);
  const level = Math.max(0, ...targets.map((target) => target.level)) + 1;
  const cost = { cost: "published", costInput: "", costOutput: "", costBefore: undefined } as const;
  return { key, upstream: "", model: "", weight: "", level, ...cost };
}

export function typedTargets(specs: readonly TargetSpec[]): readonly TypedTarget[] {
  const targets = specs.map(({ upstream, model, weight, priority, cost, ...rest }, index): TypedTarget => {
    const kind = cost === undefined ? "published" : cost.free ? "free" : "own";
    const { input = "", output = "" } = cost ?? {};
    const typed = { cost: kind, costInput: input, costOutput: output, costBefore: cost } as const;
    return { key: String(index + 1), upstream, model, weight, level: priority || 1, ...typed, rest };
  });
  return levelled(targets.length === 0 ? [newTarget([])] : targets);
}

export function targetSpecs(targets: readonly TypedTarget[]): readonly SaidTarget[] {
  return targets.map(({ upstream, model, weight, level, cost, costInput, costOutput, costBefore, rest }) => {
    const own = { ...costBefore, free: false, input: costInput, output: costOutput };
    return {
      ...rest,
      upstream,
      model,
      weight,
      // The first level is what a target has that says none.
      priority: level === 1 ? 0 : level,
      cost: { published: undefined, own, free: { free: true } }[cost],
    };
  });
}

export function isRightWeight(weight: string): boolean {
  return weight === "" || WEIGHT.test(weight);
}

export function isRightCost(cost: string): boolean {
  return DECIMAL.test(cost);
}

export function areRight(targets: readonly TypedTarget[]): boolean {
  return targets.every(
    ({ weight, cost, costInput, costOutput, costBefore }) =>
      isRightWeight(weight) &&
      (cost !== "own" || hasOnlyUnits(costBefore) || (isRightCost(costInput) && isRightCost(costOutput))),
  );
}

/** True where a price is by units such as searches, and says nothing about tokens. */
export function hasOnlyUnits(price: PriceSpec | undefined): boolean {
  return price !== undefined && price.input === "" && price.output === "" && Object.keys(price.units).length > 0;
}

/** The targets of its level, with itself. */
export function sharing(targets: readonly TypedTarget[], { level }: TypedTarget): readonly TypedTarget[] {
  return targets.filter((target) => target.level === level);
}

/**
 * Moves a target by one step. One that shares its level gets a level of its own beside it; one that is alone in its
 * level joins the next one. So every order can be reached, and a step back undoes a step.
 */
export function moved(targets: readonly TypedTarget[], key: string, to: Direction): readonly TypedTarget[] {
  const target = targets.find((one) => one.key === key);
  if (target === undefined || !canMove(targets, target, to)) return targets;
  const step = to === "up" ? -1 : 1;
  const level = target.level + (sharing(targets, target).length > 1 ? step / 2 : step);
  return levelled(targets.map((one) => (one === target ? { ...one, level } : one)));
}

export function canMove(targets: readonly TypedTarget[], target: TypedTarget, to: Direction): boolean {
  if (sharing(targets, target).length > 1) return true;
  return to === "up" ? target.level > 1 : target.level < Math.max(...targets.map(({ level }) => level));
}

/** Drops a target on another one, whose level it joins, or between two: it joins theirs if it is the same. */
export function dropped(
  targets: readonly TypedTarget[],
  key: string,
  at: { readonly key: string; readonly position: DropPosition },
): readonly TypedTarget[] {
  const target = targets.find((one) => one.key === key);
  const others = targets.filter((one) => one !== target);
  const index = others.findIndex((one) => one.key === at.key);
  const other = others[index];
  if (target === undefined || other === undefined) return targets;
  const isBefore = at.position === "before";
  const beyond = others[index + (isBefore ? -1 : 1)];
  const isJoining = at.position === "on" || beyond?.level === other.level;
  const level = isJoining ? other.level : other.level + (isBefore ? -0.5 : 0.5);
  return levelled(others.toSpliced(isBefore ? index : index + 1, 0, { ...target, level }));
}

export function without(targets: readonly TypedTarget[], key: string): readonly TypedTarget[] {
  return levelled(targets.filter((one) => one.key !== key));
}

/** In the order of their levels, which are numbered anew. */
function levelled(targets: readonly TypedTarget[]): readonly TypedTarget[] {
  const levels = [...new Set(targets.map(({ level }) => level))].toSorted((one, other) => one - other);
  return targets
    .toSorted((one, other) => one.level - other.level)
    .map((target) => Object.assign({}, target, { level: levels.indexOf(target.level) + 1 }));
}
