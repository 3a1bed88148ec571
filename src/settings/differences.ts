/** What a change of objects changed: field by field, without secrets. */
import type { RawValue } from "../config/yaml-document.js";
import { type Block, type ObjectName, type ObjectSet, type SettingsEntry } from "./object.js";

/** What a revision keeps of an object: no secret, and which fields have one. */
export interface ObjectState {
  readonly block: Block;
  readonly secrets: readonly string[];
  readonly managedBy: string;
}

/** An object that a revision changed; null where there was, or is, none. */
export interface ObjectTransition extends ObjectName {
  readonly before: ObjectState | null;
  readonly after: ObjectState | null;
  /** The secret fields that got another value. */
  readonly newSecrets: readonly string[];
}

/** A field of an object with its old and its new value. */
export interface FieldDifference extends ObjectName {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

/** What differs between two sets. */
export function transitions(before: ObjectSet, after: ObjectSet): readonly ObjectTransition[] {
  const ids = new Set([...before.entries.keys(), ...after.entries.keys()]);
  return [...ids].flatMap((id): ObjectTransition[] => {
    const [was, is] = [before.entries.get(id), after.entries.get(id)];
    const named = was ?? is;
    if (named === undefined || was === is) return [];
    const fields = new Set([...Object.keys(was?.secrets ?? {}), ...Object.keys(is?.secrets ?? {})]);
    const newSecrets = [...fields].filter((field) => was?.secrets[field] !== is?.secrets[field]);
    const { kind, name } = named;
    return [{ kind, name, before: stateOf(was), after: stateOf(is), newSecrets }];
  });
}

function stateOf(entry: SettingsEntry | undefined): ObjectState | null {
  return entry === undefined
    ? null
    : { block: entry.block, secrets: Object.keys(entry.secrets), managedBy: entry.managedBy };
}

/** The fields that a transition changed. A secret is named alone. */
export function fieldDifferences({
  kind,
  name,
  before,
  after,
  newSecrets,
}: ObjectTransition): readonly FieldDifference[] {
  const [was, is] = [leaves(before), leaves(after)];
  const fields = [...new Set([...was.keys(), ...is.keys()])].filter((field) => was.get(field) !== is.get(field));
  return [
    ...fields.map((field) => ({ kind, name, field, before: was.get(field) ?? "", after: is.get(field) ?? "" })),
    ...newSecrets.map((field) => ({ kind, name, field, before: "", after: "" })),
  ];
}

function leaves(state: ObjectState | null): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (value: RawValue, path: string): void => {
    if (typeof value === "string") found.set(path, value);
    else if (Array.isArray(value)) value.forEach((one, index) => walk(one, `${path}[${index}]`));
    else for (const [name, one] of Object.entries(value ?? {})) walk(one, path === "" ? name : `${path}.${name}`);
  };
  if (state === null) return found;
  walk(state.block, "");
  if (state.managedBy !== "") found.set("managed_by", state.managedBy);
  return found;
}
