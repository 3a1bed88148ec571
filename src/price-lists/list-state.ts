/** What of snapshots is in force beside the program's own list, and what operators decided. Pure. */
import { z } from "zod";
import type { ModelInfo } from "@pydantic/genai-prices";
import { type NewerModel, stillNewer } from "../pricing/price-list.js";
import type { PriceChange } from "./rules.js";
import { LISTED_MODEL, type Snapshot } from "./snapshot.js";

export interface ListState {
  /** By key. */
  readonly models: ReadonlyMap<string, NewerModel>;
  /** Keys on which an operator decided: nothing of them comes into force by itself until a change is accepted. */
  readonly held: ReadonlySet<string>;
  /** The proposal that an operator rejected, by key; another proposal is shown again. */
  readonly rejected: ReadonlyMap<string, string>;
  /** The models that changed by themselves, as an operator or the program last had them; new ones as they came. */
  readonly confirmed: ReadonlyMap<string, ModelInfo>;
}

export const NO_CHANGES: ListState = { models: new Map(), held: new Set(), rejected: new Map(), confirmed: new Map() };

const STORED = z.object({
  models: z.record(z.string(), z.object({ model: LISTED_MODEL.nullable(), serial: z.int(), made: z.string() })),
  held: z.array(z.string()),
  rejected: z.record(z.string(), z.string()),
  // A state that an older program wrote has none.
  confirmed: z.record(z.string(), LISTED_MODEL).default({}),
});

export function writeState({ models, held, rejected, confirmed }: ListState): string {
  return JSON.stringify({
    models: Object.fromEntries(models),
    held: [...held],
    rejected: Object.fromEntries(rejected),
    confirmed: Object.fromEntries(confirmed),
  });
}

export function readState(text: string): ListState {
  const { models, held, rejected, confirmed } = STORED.parse(JSON.parse(text));
  return {
    models: new Map(Object.entries(models)),
    held: new Set(held),
    rejected: new Map(Object.entries(rejected)),
    confirmed: new Map(Object.entries(confirmed)),
  };
}

/** Puts changes of a snapshot in force, by themselves or because an operator confirms them. */
export function accepting(
  state: ListState,
  changes: readonly PriceChange[],
  { serial, made }: Pick<Snapshot, "serial" | "made">,
  by: "operator" | "itself",
): ListState {
  const models = new Map(state.models);
  const held = new Set(state.held);
  const rejected = new Map(state.rejected);
  const confirmed = new Map(confirmedOf(state));
  for (const { key, before, proposed: model } of changes) {
    models.set(key, { model, serial, made });
    const last = confirmed.get(key) ?? before ?? model;
    if (by === "operator" || last === null) confirmed.delete(key);
    else confirmed.set(key, last);
    held.delete(key);
    rejected.delete(key);
  }
  return { models, held, rejected, confirmed };
}

/** What counts of what was confirmed: a newer list of the program confirms its own prices. */
export function confirmedOf({ models, confirmed }: ListState): ListState["confirmed"] {
  const newer = stillNewer(models);
  return new Map([...confirmed].filter(([key]) => newer.has(key)));
}

/** Leaves changes out, until the snapshot proposes something else. */
export function rejecting(state: ListState, changes: readonly PriceChange[]): ListState {
  const held = new Set(state.held);
  const rejected = new Map(state.rejected);
  for (const { key, id } of changes) {
    held.add(key);
    rejected.set(key, id);
  }
  return { ...state, held, rejected };
}

/** Puts the models of an earlier state in force again. What that changes waits for an operator from then on. */
export function rollingBack(state: ListState, { models }: Pick<ListState, "models">): ListState {
  const keys = [...new Set([...state.models.keys(), ...models.keys()])];
  const changed = keys.filter((key) => JSON.stringify(state.models.get(key)) !== JSON.stringify(models.get(key)));
  const confirmed = new Map([...state.confirmed].filter(([key]) => !changed.includes(key)));
  return { models, held: new Set([...state.held, ...changed]), rejected: state.rejected, confirmed };
}
