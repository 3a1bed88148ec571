/** What a request's own preferences leave of a model's targets: OpenRouter's `provider`, by the names of upstreams. */
import type { Price } from "../api/index.js";
import { formatPricePerMillion } from "../base/money.js";
import { wrongValue } from "../wire/json/node.js";
import type { RoutePreferences, SortKey, WireRequest } from "../wire/wire.js";
import { byCost } from "./balance.js";
import type { ServedModel, Target } from "./model.js";
import type { RecentMean } from "./target-speed.js";

/** How targets are sorted: by what, and at which moment of the monotonic clock. */
export interface TargetSort {
  readonly key: SortKey;
  readonly request: WireRequest;
  readonly nowMs: number;
}

/**
 * The targets in the order of the sort. Those that cost the operator more than the first one, or that are being drained
 * by their weight, stay behind all others; of the rest, those of which nothing is known come last.
 */
export function sortedTargets(targets: readonly Target[], sort: TargetSort): readonly Target[] {
  const [first] = targets;
  if (first === undefined || targets.length < 2) return targets;
  const allowed = targets.filter((target) => target.weight > 0 && costsAtMost(target.cost, first.cost));
  const sorted = allowed.toSorted((one, other) => compared(one, other, sort));
  const places = new Map<Target, number>();
  let place = 0;
  for (const [at, target] of sorted.entries()) {
    const before = sorted[at - 1];
    if (before !== undefined && compared(before, target, sort) !== 0) place += 1;
    places.set(target, place);
  }
  return targets
    .map((target) => Object.assign({}, target, { priority: places.get(target) ?? allowed.length + target.priority }))
    .sort((one, other) => one.priority - other.priority);
}

/** Those of which the same is known stay in the order of their priorities. */
function compared(one: Target, other: Target, sort: TargetSort): number {
  return comparedBy(one, other, sort) || one.priority - other.priority;
}

function comparedBy(one: Target, other: Target, { key, request, nowMs }: TargetSort): number {
  if (key === "price") return byCost(one, other);
  const meanOf = ({ health: { measured } }: Target): RecentMean =>
    key === "latency" ? measured.of(request.facts.stream, request.facts.textBytes) : measured.perToken;
  const [first, second] = [meanOf(one).value(nowMs), meanOf(other).value(nowMs)];
  if (first === undefined || second === undefined) return Number(first === undefined) - Number(second === undefined);
  return first - second;
}

/**
 * The targets that the request allows; those that it names come first, in its order. Clients pay one price for a model,
 * so a request cannot choose a target that costs the operator more than the first one, or one that is being drained by
 * its weight.
 */
export function preferredTargets(targets: readonly Target[], route: RoutePreferences | undefined): readonly Target[] {
  const [first] = targets;
  const chooses = route?.order !== undefined || route?.only !== undefined || route?.ignore !== undefined;
  if (first === undefined || route === undefined || !chooses) return targets;
  const { order, only, ignore, allowsOthers = true } = route;
  const hasWeight = targets.some(({ weight }) => weight > 0);
  const allowed = targets.filter((target) => {
    const { id } = target.served;
    if ((hasWeight && target.weight === 0) || !costsAtMost(target.cost, first.cost)) return false;
    if (ignore?.includes(id) === true || only?.includes(id) === false) return false;
    return allowsOthers || (order ?? only)?.includes(id) !== false;
  });
  if (order === undefined) return allowed;
  return allowed
    .map((target) => Object.assign({}, target, { priority: placeOf(target, order) }))
    .sort((one, other) => one.priority - other.priority);
}

/** False also where only one of the costs is known. */
function costsAtMost(cost: Price | undefined, most: Price | undefined): boolean {
  if (cost === undefined || most === undefined) return cost === most;
  return cost.inputPicos <= most.inputPicos && cost.outputPicos <= most.outputPicos;
}

/** The targets that are named have the first priorities, and the others keep their order behind them. */
function placeOf({ served, priority }: Target, order: readonly string[]): number {
  const place = order.indexOf(served.id);
  return place === -1 ? order.length + priority : place;
}

/** Throws PARAMETER_INVALID if the request allows none of the targets, or no price as high as the model's. */
export function checkPreferences(model: ServedModel, targets: readonly Target[], route: RoutePreferences): void {
  if (preferredTargets(targets, route).length === 0)
    throw wrongValue("provider", `it leaves no upstream for the model '${model.id}'`);
  const { inputPicosMax, outputPicosMax } = route;
  const { inputPicos, outputPicos } = model.price;
  const above = (most: bigint | undefined, price: bigint, param: string): void => {
    if (most === undefined || price <= most) return;
    const usd = formatPricePerMillion(price);
    throw wrongValue(`provider.max_price.${param}`, `the model '${model.id}' costs ${usd} USD per million tokens`);
  };
  above(inputPicosMax, inputPicos, "prompt");
  above(outputPicosMax, outputPicos, "completion");
}
