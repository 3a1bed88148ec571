/** Settings objects in the forms of the protocol. */
import { type ObjectDifference, ObjectKind as KindValue, type SettingsObject, SettingsSource } from "../api/index.js";
import { fieldDifferences, type ObjectTransition } from "../settings/differences.js";
import type { FileObject } from "../settings/file-objects.js";
import {
  idOf,
  namesakesOf,
  type ObjectName,
  type ObjectSet,
  secretsOf,
  type SettingsEntry,
} from "../settings/object.js";
import { differingFields, KIND_VALUES, specOfBlock } from "../settings/spec.js";

const EMPTY: SettingsObject = {
  spec: undefined,
  kind: KindValue.OBJECT_KIND_UNSPECIFIED,
  name: "",
  source: SettingsSource.SETTINGS_SOURCE_FILE,
  etag: "",
  secretsSet: [],
  problem: "",
  managedBy: "",
  createTime: undefined,
  updateTime: undefined,
  revision: 0n,
  place: "",
};

/** An object of which nothing but its name is known here. */
export function shownName({ kind, name }: ObjectName, source: SettingsSource): SettingsObject {
  return { ...EMPTY, kind: KIND_VALUES[kind], name, source };
}

/** An object of the database. `problem` is why this node does not use it. */
export function shownEntry(entry: SettingsEntry, problem: string): SettingsObject {
  const { kind, name, block, secrets, unopened, managedBy, createTimeMs, updateTimeMs, revision } = entry;
  const set = secretsOf(kind).filter(
    (field) => secrets[field] !== undefined || block[field] !== undefined || unopened !== undefined,
  );
  return {
    ...EMPTY,
    spec: specOfBlock(kind, block),
    kind: KIND_VALUES[kind],
    name,
    source: SettingsSource.SETTINGS_SOURCE_DATABASE,
    etag: String(revision),
    secretsSet: set,
    problem,
    managedBy,
    createTime: new Date(createTimeMs),
    updateTime: new Date(updateTimeMs),
    revision: BigInt(revision),
  };
}

/** What a secret stands for on this node, which a reference says; undefined where it is not there. */
export type SecretOf = (secret: string) => string | undefined;

/** An object of a file. `problem` is why this node does not use it. */
export function shownOfFile({ kind, name, block, secrets, place }: FileObject, problem: string): SettingsObject {
  const shown = { kind: KIND_VALUES[kind], name, secretsSet: Object.keys(secrets), place, problem };
  return { ...EMPTY, ...shown, spec: specOfBlock(kind, block) };
}

/** How the database has the name of a file's object; undefined where it does not. */
export function fileProblem(object: FileObject, { entries }: ObjectSet, secretOf: SecretOf): string | undefined {
  if (!namesakesOf(object).some((id) => entries.has(id))) return undefined;
  const entry = entries.get(idOf(object));
  return entry !== undefined && differencesFrom(object, entry, secretOf).length === 0
    ? "the database has an equal object, which is in force: remove this one from the file"
    : "the database has another object of this name, which is in force instead";
}

/** The fields in which an object of the database differs from that of a file. */
export function differencesFrom(
  { kind, block, secrets }: FileObject,
  entry: SettingsEntry,
  secretOf: SecretOf,
): readonly string[] {
  const fields = differingFields(kind, specOfBlock(kind, entry.block), block);
  const valueOf = (field: string): string | undefined => {
    const written = entry.secrets[field] ?? entry.block[field];
    return typeof written === "string" ? secretOf(written) : undefined;
  };
  return [...fields, ...secretsOf(kind).filter((field) => valueOf(field) !== secrets[field])];
}

export function shownDifferences(changed: ObjectTransition): ObjectDifference[] {
  return fieldDifferences(changed).map(({ kind, name, field, before, after }) => ({
    kind: KIND_VALUES[kind],
    name,
    field,
    before,
    after,
  }));
}
