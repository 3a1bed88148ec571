/** Makes a snapshot of public lists: the prices of one, and beside each what the others say of it. Pure. */
import type { Provider } from "@pydantic/genai-prices";
import { DAY_MS } from "../base/day.js";
import { type FindModel, modelKey } from "../pricing/price-list.js";
import { componentsOf } from "./components.js";
import { agree } from "./rules.js";
import type { Snapshot, SnapshotModel } from "./snapshot.js";
import { matched, readGenaiPrices, readLiteLlm, readModelsDev } from "./sources.js";

export interface Sources {
  /** The text of each list. */
  readonly genaiPrices: string;
  readonly modelsDev: string;
  readonly liteLlm: string;
}

export interface Making {
  readonly serial: number;
  readonly nowMs: number;
  /** How long the snapshot is valid. */
  readonly days: number;
  readonly find: FindModel;
}

/** A component of which two lists say something else. */
export interface Disagreement {
  readonly key: string;
  readonly component: string;
  readonly price: number;
  readonly source: string;
  readonly other: number;
}

export interface MadeSnapshot {
  readonly snapshot: Snapshot;
  readonly disagreements: readonly Disagreement[];
}

/** Throws an Error of one line where a list cannot be read, or has nothing of any model. */
export function makeSnapshot(sources: Sources, { serial, nowMs, days, find }: Making): MadeSnapshot {
  const listed = read("genai-prices", () => readGenaiPrices(sources.genaiPrices));
  const others = [
    { source: "models.dev", models: read("models.dev", () => readModelsDev(sources.modelsDev)) },
    { source: "LiteLLM", models: read("LiteLLM", () => readLiteLlm(sources.liteLlm)) },
  ];
  const disagreements: Disagreement[] = [];
  const seen = new Set<string>();
  const providers = new Map<string, readonly SnapshotModel[]>();
  for (const [id, models] of listed) {
    const provider: Provider = { id, name: id, api_pattern: "", models: [...models] };
    const said = others.map((other) => ({
      source: other.source,
      models: matched(provider, other.models.get(id) ?? new Map(), find),
    }));
    for (const other of said) if (other.models.size > 0) seen.add(other.source);
    const entries = models.map((model): SnapshotModel => {
      const found = said.flatMap((other) => {
        const prices = other.models.get(model.id);
        return prices === undefined ? [] : [[other.source, prices] as const];
      });
      return { model, others: Object.fromEntries(found) };
    });
    providers.set(id, entries);
    for (const entry of entries) disagreements.push(...differencesOf(id, entry, nowMs));
  }
  for (const { source } of others)
    if (!seen.has(source)) throw new Error(`${source} has no price of any model that genai-prices has`);
  const made = new Date(nowMs).toISOString();
  const expires = new Date(nowMs + days * DAY_MS).toISOString();
  return { snapshot: { serial, made, expires, providers }, disagreements };
}

function differencesOf(provider: string, { model, others }: SnapshotModel, nowMs: number): readonly Disagreement[] {
  const prices = componentsOf(model, nowMs);
  return Object.entries(others).flatMap(([source, said]) =>
    Object.entries(said).flatMap(([component, other]) => {
      const price = prices.get(component);
      if (price === undefined || agree(price, other)) return [];
      return [{ key: modelKey(provider, model.id), component, price, source, other }];
    }),
  );
}

function read<Result>(source: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw new Error(`${source} cannot be read: ${line}`, { cause: error });
  }
}
