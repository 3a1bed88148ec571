/** Sets of settings objects for tests, and what they are judged by. */
import { families } from "../../src/families/index.js";
import { type ObjectKind } from "../../src/config/object-places.js";
import { type Block, idOf, NO_OBJECTS, type ObjectSet } from "../../src/settings/object.js";
import { edited, type ObjectEdit, type Surroundings } from "../../src/settings/object-set.js";

export const AROUND: Surroundings = {
  families,
  outside: { upstreams: new Map(), models: new Set() },
  sources: ["env:ALLOWED_"],
};

export function edit(kind: ObjectKind, name: string, block: Block | undefined): ObjectEdit {
  return { kind, name, block };
}

export const upstream = (name: string, more: Block = {}): ObjectEdit =>
  edit("upstream", name, { family: "openai", api_key: "sk-of-a-test", ...more });

export const model = (name: string, on: string, more: Block = {}): ObjectEdit =>
  edit("model", name, {
    targets: [{ upstream: on }],
    price: { input: "1", output: "2" },
    output_tokens_max: "9",
    ...more,
  });

export const plan = (name: string, block: Block = { budget_month: "10" }): ObjectEdit => edit("plan", name, block);

/** A set that was made by these edits. */
export function setOf(...edits: readonly ObjectEdit[]): ObjectSet {
  return edited(NO_OBJECTS, edits, 0).set;
}

export const entryIn = (set: ObjectSet, kind: ObjectKind, name: string) => set.entries.get(idOf({ kind, name }));
