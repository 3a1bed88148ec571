/**
 * Which changes of published prices may come into force by themselves, and why the others wait for an operator. Pure.
 * The rules: docs/decisions/0479-price-lists.md.
 */
import { createHash } from "node:crypto";
import type { MatchLogic, ModelInfo, Provider } from "@pydantic/genai-prices";
import { modelKey } from "../pricing/price-list.js";
import { type Components, componentsOf, modelAt } from "./components.js";
import type { Snapshot, SnapshotModel } from "./snapshot.js";

/** What one source says of a component. */
export interface SourcePrice {
  readonly source: string;
  readonly price: number;
}

/** Undefined is a component that is not there. */
export interface ComponentChange {
  readonly component: string;
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** What sources say beside the one that the snapshot is of. */
  readonly others: readonly SourcePrice[];
}

export interface PriceChange {
  /** Names the model and the proposal: an operator accepts what was shown, and nothing newer. */
  readonly id: string;
  readonly key: string;
  readonly kind: "new" | "changed" | "removed";
  readonly components: readonly ComponentChange[];
  /** Why it does not come into force by itself; empty where it may. */
  readonly reasons: readonly string[];
  /** What is in force until then; null: nothing. */
  readonly before: ModelInfo | null;
  /** What is in force once it is accepted; null: nothing. */
  readonly proposed: ModelInfo | null;
}

export interface Comparison {
  /** The providers in force, without those that they fall back to. */
  readonly providers: readonly Provider[];
  readonly snapshot: Snapshot;
  readonly nowMs: number;
  /** Finds a model in force under a name, of a provider or of those that it falls back to. */
  readonly find: (providerId: string, name: string) => ModelInfo | undefined;
  /** Keys of models on which an operator decided. */
  readonly held: ReadonlySet<string>;
  /** Models that changed by themselves, as they were confirmed last. */
  readonly confirmed: ReadonlyMap<string, ModelInfo>;
}

const AGREEMENT = 0.05;
const RATIO_MAX = 2;
const CHANGED_SHARE_MAX = 0.1;
const NEEDED = ["input_mtok", "output_mtok"];
const CACHE_WRITE = "cache_write_mtok";
const CACHE_WRITE_1H = "cache_write_1h_mtok";

/** The differences between what is in force and a snapshot, by key. Providers that one of them lacks do not count. */
export function changesOf(compared: Comparison): readonly PriceChange[] {
  const { providers, snapshot, nowMs } = compared;
  const changes: PriceChange[] = [];
  let count = 0;
  for (const provider of providers) {
    const listed = snapshot.providers.get(provider.id);
    if (listed === undefined) continue;
    count += provider.models.length;
    const before = new Map(provider.models.map((model) => [model.id, model]));
    for (const proposal of listed) {
      const change = changeOf(provider, before.get(proposal.model.id), proposal, compared);
      if (change !== undefined) changes.push(change);
      before.delete(proposal.model.id);
    }
    for (const model of before.values()) changes.push(removalOf(provider, model, compared));
  }
  const doubts = [
    ...(changes.length > count * CHANGED_SHARE_MAX ? ["more than 10 % of the models change at once"] : []),
    ...(Date.parse(snapshot.expires) <= nowMs ? ["the snapshot has expired"] : []),
  ];
  return changes.map((change) => doubted(change, doubts)).toSorted((one, other) => (one.key < other.key ? -1 : 1));
}

function doubted(change: PriceChange, doubts: readonly string[]): PriceChange {
  return { ...change, reasons: [...change.reasons, ...doubts] };
}

function changeOf(
  provider: Provider,
  before: ModelInfo | undefined,
  { model, others }: SnapshotModel,
  compared: Comparison,
): PriceChange | undefined {
  const { nowMs } = compared;
  const after = modelAt(model, nowMs);
  const [was, will] = [before === undefined ? new Map() : componentsOf(before, nowMs), componentsOf(after, nowMs)];
  const components = differences(was, will, others);
  const hasNewNames = before !== undefined && JSON.stringify(before.match) !== JSON.stringify(after.match);
  if (components.length === 0 && before !== undefined && !hasNewNames) return undefined;
  const reasons = [
    ...components.flatMap((change) => doubtsOf(change, before === undefined)),
    ...contradictions(will),
    ...(hasNewNames ? ["the names that it prices change"] : []),
    ...(before === undefined ? doubtsOfNew(provider, model, will, others, compared) : []),
    ...drifts(compared.confirmed.get(modelKey(provider.id, model.id)), components, nowMs),
  ];
  // A model's context bounds what a request may cost, and no second source confirms it.
  const proposed = before === undefined ? after : { ...before, match: after.match, prices: after.prices };
  const kind = before === undefined ? "new" : "changed";
  const key = modelKey(provider.id, model.id);
  return made({ key, kind, components, reasons, before: before ?? null, proposed }, compared);
}

function removalOf(provider: Provider, model: ModelInfo, compared: Comparison): PriceChange {
  const components = differences(componentsOf(model, compared.nowMs), new Map(), {});
  const reasons = ["the snapshot does not have the model"];
  const key = modelKey(provider.id, model.id);
  return made({ key, kind: "removed", components, reasons, before: model, proposed: null }, compared);
}

function made(change: Omit<PriceChange, "id">, { held }: Comparison): PriceChange {
  const digest = createHash("sha256").update(JSON.stringify(change.proposed)).digest("hex").slice(0, 12);
  const decided = held.has(change.key) ? ["an operator decided on this model before"] : [];
  return { id: `${change.key}#${digest}`, ...change, reasons: [...change.reasons, ...decided] };
}

function differences(was: Components, will: Components, others: SnapshotModel["others"]): readonly ComponentChange[] {
  const names = [...new Set([...was.keys(), ...will.keys()])].toSorted();
  return names.flatMap((component) => {
    const [from, to] = [was.get(component), will.get(component)];
    if (from === to) return [];
    const said = Object.entries(others).flatMap(([source, prices]) => {
      const price = prices[component];
      return price === undefined ? [] : [{ source, price }];
    });
    return [{ component, from, to, others: said }];
  });
}

function doubtsOf({ component, from, to, others }: ComponentChange, isNew: boolean): readonly string[] {
  if (to === undefined) return [`${component} vanishes`];
  const doubts: string[] = [];
  if (to === 0) doubts.push(`${component} becomes zero`);
  if (!isNew && from === undefined) doubts.push(`${component} was not there before`);
  if (from !== undefined && isFar(from, to)) doubts.push(`${component} more than doubles or falls below half`);
  if (!others.some(({ price }) => agree(price, to))) doubts.push(`no second source has this ${component}`);
  return doubts;
}

function isFar(from: number, to: number): boolean {
  return to > from * RATIO_MAX || to < from / RATIO_MAX;
}

/** Many steps within the bounds lead anywhere: all of them together stay within the same bounds. */
function drifts(
  confirmed: ModelInfo | undefined,
  components: readonly ComponentChange[],
  nowMs: number,
): readonly string[] {
  if (confirmed === undefined) return [];
  const known = componentsOf(confirmed, nowMs);
  return components.flatMap(({ component, to }) => {
    const from = known.get(component);
    if (from === undefined || to === undefined || !isFar(from, to)) return [];
    return [`${component} would be more than double or below half of what was confirmed last`];
  });
}

/** True where two lists have one price, but for what rounding makes of it. */
export function agree(one: number, other: number): boolean {
  return Math.abs(one - other) <= AGREEMENT * Math.max(one, other);
}

/** Prices that no vendor has. */
function contradictions(prices: Components): readonly string[] {
  return [...prices].flatMap(([component, read]) => {
    const input = prices.get(component.replace("cache_read_mtok", "input_mtok")) ?? prices.get("input_mtok");
    const isRead = component.startsWith("cache_read_mtok");
    return isRead && input !== undefined && read > input ? [`${component} is above the price of input`] : [];
  });
}

function doubtsOfNew(
  provider: Provider,
  { id, match }: ModelInfo,
  prices: Components,
  others: SnapshotModel["others"],
  { find, nowMs }: Comparison,
): readonly string[] {
  const taken = namesIn(match, id)
    .map((name) => find(provider.id, name))
    .find((model) => model !== undefined);
  const has1h = provider.models.some((model) => componentsOf(model, nowMs).has(CACHE_WRITE_1H));
  const told = Object.values(others).flatMap((said) => Object.keys(said).filter((name) => said[name] !== 0));
  const needed = [...NEEDED, ...told, ...(prices.has(CACHE_WRITE) && has1h ? [CACHE_WRITE_1H] : [])];
  const missing = [...new Set(needed)].filter((name) => !prices.has(name));
  return [
    ...(taken === undefined ? [] : [`${taken.id} prices a name of it until now`]),
    ...(isNarrow(match, id) ? [] : ["its price covers names by a pattern"]),
    ...missing.map((name) => `${name} is missing`),
  ];
}

/** The names that a narrow price covers. */
function namesIn(match: MatchLogic, id: string): readonly string[] {
  if ("or" in match) return [...new Set(match.or.flatMap((one) => namesIn(one, id)))];
  if ("equals" in match) return [id, match.equals];
  return "starts_with" in match ? [id, match.starts_with] : [id];
}

/** True where a price covers the model's own name alone, with what a version or a provider adds to it. */
function isNarrow(match: MatchLogic, id: string): boolean {
  if ("or" in match) return match.or.every((one) => isNarrow(one, id));
  const name = "equals" in match ? match.equals : "starts_with" in match ? match.starts_with : undefined;
  return name !== undefined && (name === id || (name.startsWith(id) && /^[-@:]/.test(name.slice(id.length))));
}
