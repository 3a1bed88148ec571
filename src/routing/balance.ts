/** How a model picks one of several targets that are equal in priority: by weight, load, latency or cost. */
import type { Price } from "../api/index.js";
import type { WireRequest } from "../wire/wire.js";
import type { ServedModel, Target } from "./model.js";
import type { RecentMean } from "./target-speed.js";

/** Picks one of the targets; undefined where there is none. */
export type Balancing = (targets: readonly Target[], nowMs: number) => Target | undefined;

/** Such a share of requests goes by weight, so that a slow target is still measured. */
const EXPLORED_SHARE = 0.02;
/** A target is preferred only where its score is lower by so much: chance moves no shares. */
const BETTER = 0.8;
/** So many running requests double the score of a target. */
const RUNNING_LIMIT = 100;
/** A request reads about so many tokens for each that it generates. */
const INPUT_PER_OUTPUT = 3n;

/** Undefined for a model that goes by weight. */
export function balancingOf(
  { balance }: Pick<ServedModel, "balance">,
  { facts: { textBytes } }: WireRequest,
  isStream: boolean,
  random: () => number,
): Balancing | undefined {
  switch (balance) {
    case undefined:
    case "weight":
      return undefined;
    case "load":
      return (targets, nowMs) => lessLoaded(freeOf(weighed(targets), nowMs), nowMs, random);
    case "latency":
      return (targets, nowMs) =>
        faster(weighed(targets), ({ health }) => health.measured.of(isStream, textBytes), nowMs, random);
    case "cost":
      return (targets) => byWeight(cheapest(weighed(targets)), random);
  }
}

export function byWeight(targets: readonly Target[], random: () => number): Target | undefined {
  let left = random() * targets.reduce((sum, target) => sum + target.weight, 0);
  for (const target of targets) {
    left -= target.weight;
    if (left < 0) return target;
  }
  return targets.at(-1);
}

/** Those without a weight get new requests only where no other is there. */
function weighed(targets: readonly Target[]): readonly Target[] {
  const all = targets.filter(({ weight }) => weight > 0);
  return all.length > 0 ? all : targets;
}

/**
 * The less loaded of two by weight. Both may be the same one, so that no target gets more than twice the share of its
 * weight, also one that is new and runs nothing yet.
 */
function lessLoaded(targets: readonly Target[], nowMs: number, random: () => number): Target | undefined {
  const [one, other] = [byWeight(targets, random), byWeight(targets, random)];
  return one !== undefined && other !== undefined && loadOf(other, nowMs) < loadOf(one, nowMs) ? other : one;
}

/** What others have running there counts too, where the server reports it. */
function loadOf({ health, weight }: Target, nowMs: number): number {
  return (health.running + (health.upstream.server?.othersAt(nowMs) ?? 0)) / weight;
}

/** Those where a request would not wait in the server's own queue; all where it would at each. */
function freeOf(targets: readonly Target[], nowMs: number): readonly Target[] {
  const free = targets.filter(
    ({ health: { upstream } }) => upstream.server?.isBusyAt(nowMs, upstream.running) !== true,
  );
  return free.length > 0 ? free : targets;
}

/** The faster of two different ones by weight. */
function faster(
  targets: readonly Target[],
  meanOf: (target: Target) => RecentMean,
  nowMs: number,
  random: () => number,
): Target | undefined {
  const one = byWeight(targets, random);
  if (targets.length < 2 || random() < EXPLORED_SHARE) return one;
  const other = byWeight(
    targets.filter((target) => target !== one),
    random,
  );
  if (one === undefined || other === undefined) return one;
  const scores = scoresOf(targets, meanOf, nowMs);
  return (scores.get(other) ?? 0) < (scores.get(one) ?? 0) * BETTER ? other : one;
}

/** A target of which nothing is known is as the others are, so that it gets its share and no more. */
function scoresOf(
  targets: readonly Target[],
  meanOf: (target: Target) => RecentMean,
  nowMs: number,
): ReadonlyMap<Target, number> {
  const known = new Map<Target, number>();
  const latencies = targets.map((target) => meanOf(target).value(nowMs));
  for (const [place, target] of targets.entries()) {
    const ofOthers = median(latencies.filter((_, at) => at !== place));
    let latency = latencies[place];
    if (latency === undefined) continue;
    if (ofOthers !== undefined && latency * BETTER > ofOthers && isBack(meanOf(target), ofOthers)) {
      meanOf(target).restart(ofOthers, nowMs);
      latency = ofOthers;
    }
    known.set(target, latency * crowding(target));
  }
  const ofKnown = median([...known.values()]) ?? 0;
  return new Map(targets.map((target) => [target, known.get(target) ?? ofKnown * crowding(target)]));
}

/** A slow target gets few requests: the last ones show sooner than the mean that it is fast again. */
function isBack(mean: RecentMean, ofOthers: number): boolean {
  return mean.latest * BETTER <= ofOthers;
}

function crowding({ health }: Target): number {
  return 1 + health.running / RUNNING_LIMIT;
}

function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/** Those that cost the operator least. If no cost is known: all of them. */
function cheapest(targets: readonly Target[]): readonly Target[] {
  const least = targets.toSorted(byCost)[0];
  return least === undefined ? targets : targets.filter((target) => byCost(target, least) === 0);
}

/** The cheapest first, and what nobody knows last. */
export function byCost({ cost: one }: Pick<Target, "cost">, { cost: other }: Pick<Target, "cost">): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  const [first, second] = [costOf(one), costOf(other)];
  return first < second ? -1 : Number(first > second);
}

function costOf({ inputPicos, outputPicos }: Price): bigint {
  return inputPicos * INPUT_PER_OUTPUT + outputPicos;
}
