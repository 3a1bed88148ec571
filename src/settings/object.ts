/** Settings objects: the kinds that there are, and what is kept of each. */
import { objectAt, type ObjectKind } from "../config/object-places.js";
import { SECRET_FIELDS } from "../config/secret-fields.js";
import type { RawValue } from "../config/yaml-document.js";

/** What a settings file has below the name of an object: every scalar is its own text. */
export type Block = Readonly<Record<string, RawValue>>;

export interface ObjectName {
  readonly kind: ObjectKind;
  readonly name: string;
}

/** An object of the database. */
export interface SettingsEntry extends ObjectName {
  /** Its block. A secret in it is a reference, such as `env:OPENAI_API_KEY`. */
  readonly block: Block;
  /** The secrets that were written themselves, by their fields. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Its secrets as they are stored, where this node cannot open them: they were sealed under another root secret. */
  readonly unopened: Uint8Array | undefined;
  /** The label of the tool that manages it; empty where none does. */
  readonly managedBy: string;
  readonly createTimeMs: number;
  readonly updateTimeMs: number;
  /** The revision that changed it last: its etag. */
  readonly revision: number;
}

/** The objects of the database after a revision, by `idOf`. */
export interface ObjectSet {
  readonly revision: number;
  readonly entries: ReadonlyMap<string, SettingsEntry>;
}

export const NO_OBJECTS: ObjectSet = { revision: 0, entries: new Map() };

/** What tells an object from all others, such as `model/gpt-4o`. */
export function idOf({ kind, name }: ObjectName): string {
  return `${kind}/${name}`;
}

/** The objects that a name may not belong to beside this one: a request names a model or an alias in one way. */
export function namesakesOf({ kind, name }: ObjectName): readonly string[] {
  const kinds: readonly ObjectKind[] = kind === "model" || kind === "alias" ? ["model", "alias"] : [kind];
  return kinds.map((one) => idOf({ kind: one, name }));
}

const SECRETS: Readonly<Record<ObjectKind, readonly string[]>> = {
  upstream: secretsBelow("upstream"),
  model: secretsBelow("model"),
  alias: secretsBelow("alias"),
  plan: secretsBelow("plan"),
  issuer: secretsBelow("issuer"),
  payments: secretsBelow("payments"),
  metrics: secretsBelow("metrics"),
  prices: secretsBelow("prices"),
};

/** The fields of a kind that hold secrets. */
export function secretsOf(kind: ObjectKind): readonly string[] {
  return SECRETS[kind];
}

function secretsBelow(kind: ObjectKind): readonly string[] {
  return SECRET_FIELDS.flatMap(({ pattern }) => {
    const found = objectAt(pattern);
    const [field, ...more] = found?.rest ?? [];
    return found?.kind === kind && typeof field === "string" && more.length === 0 ? [field] : [];
  });
}
