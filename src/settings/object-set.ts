/** A set of objects: what changes make of it, and what is wrong with it. Pure. */
import { checkBlocks } from "../config/blocks.js";
import { formatPath } from "../config/file.js";
import { fallbacksIn, type KnownFamily, type OutsideNames } from "../config/references.js";
import { destinationOf, secretFieldAt } from "../config/secret-fields.js";
import { parseReference, referenceProblem } from "../config/secret-reference.js";
import { keyFileProblem, takesFromMachine } from "../config/taken.js";
import {
  nameProblem,
  objectAt,
  type ObjectBlock,
  type ObjectKind,
  placeOfObject,
  rootOf,
} from "../config/object-places.js";
import type { Settings } from "../config/settings.js";
import { hasModel } from "../config/wildcards.js";
import { blockOf, type Path, type RawValue } from "../config/yaml-document.js";
import { type Block, idOf, type ObjectName, type ObjectSet, secretsOf, type SettingsEntry } from "./object.js";

/** A change of one object. */
export interface ObjectEdit extends ObjectName {
  /** The whole block that it has then, with secrets where these are new. Undefined: it is deleted. */
  readonly block: Block | undefined;
  /** Secret fields that have no value any more. Others that the block lacks keep theirs. */
  readonly removed?: readonly string[];
  readonly managedBy?: string | undefined;
  /** Secret fields without which it is refused: it had a secret there before. */
  readonly needed?: readonly string[];
  /** The name that it had before: it takes the secrets of that object which it does not say. */
  readonly renamedFrom?: string;
}

/** What is wrong with an object. */
export interface ObjectProblem extends ObjectName {
  /** Such as `targets[0].upstream`. Empty: the whole object. */
  readonly field: string;
  /** The end of a sentence about the field. */
  readonly problem: string;
}

/** What objects are judged by. */
export interface Surroundings {
  readonly families: readonly KnownFamily[];
  /** What is from elsewhere and may be named. */
  readonly outside: OutsideNames;
  /** The models that aliases of this node's file name, by the aliases' names. Absent: none. */
  readonly fileAliases?: ReadonlyMap<string, string>;
  /** Beginnings of references that are allowed. */
  readonly sources: readonly string[];
}

/** What of it names objects, or is named by them. */
type Elsewhere = Partial<Pick<Surroundings, "outside" | "fileAliases">>;

export interface EditedSet {
  readonly set: ObjectSet;
  /** What is wrong with the edits themselves; the set as a whole is judged by `checkSet`. */
  readonly problems: readonly ObjectProblem[];
}

const KEPT_RULE =
  "must be given again: the secret belongs to another address or another kind of upstream, and is not sent to this one";
const GONE_RULE = "is gone: revisions have no secrets. Create the object anew, with its secret";
const UNREAD_RULE = "must be given again: this node cannot read the secret of the previous name";
const BLOCK_CHARACTERS_MAX = 65_536;
const TOO_LARGE = `must be at most ${BLOCK_CHARACTERS_MAX} characters as JSON`;
/** What stands for a secret that is there and is not read, where the secret has a form of its own. */
const STAND_INS: Readonly<Record<string, string>> = {
  secret_key: "sk_unread",
  webhook_secret: "whsec_unread",
  headers: "x-unread: unread",
};
const STAND_IN = "unread";
const MACHINE_RULE =
  "is missing: without it the identity of the gateway's machine is used, which only a settings file may do";

/** The set after some edits, as the revision that comes next. Objects that an edit leaves as they are keep theirs. */
export function edited(set: ObjectSet, edits: readonly ObjectEdit[], nowMs: number, around: Elsewhere = {}): EditedSet {
  const revision = set.revision + 1;
  const entries = new Map(set.entries);
  const problems: ObjectProblem[] = [];
  for (const edit of edits) {
    const before = set.entries.get(idOf(edit));
    if (edit.block === undefined) {
      entries.delete(idOf(edit));
      continue;
    }
    const { kind, name, renamedFrom } = edit;
    const origin = renamedFrom === undefined ? before : set.entries.get(idOf({ kind, name: renamedFrom }));
    const after = entryOf(edit, edit.block, origin, (field, problem) => problems.push({ kind, name, field, problem }));
    if (before !== undefined && isSame(before, after)) continue;
    entries.set(idOf(edit), { ...after, createTimeMs: before?.createTimeMs ?? nowMs, updateTimeMs: nowMs, revision });
  }
  return { set: { revision, entries }, problems: [...problems, ...stillNamed(set, entries, edits, around)] };
}

type Written = Omit<SettingsEntry, "createTimeMs" | "updateTimeMs" | "revision">;

function entryOf(
  { kind, name, removed = [], needed = [], managedBy, renamedFrom }: ObjectEdit,
  wanted: Block,
  before: SettingsEntry | undefined,
  refuse: (field: string, problem: string) => void,
): Written {
  const block: Record<string, RawValue> = { ...wanted };
  const secrets: Record<string, string> = {};
  let unopened: Uint8Array | undefined;
  for (const field of secretsOf(kind)) {
    const value = block[field];
    if (typeof value === "string" && parseReference(value) !== undefined) continue;
    delete block[field];
    if (typeof value === "string") secrets[field] = value;
    if (value !== undefined) continue;
    const kept = removed.includes(field) ? undefined : (before?.secrets[field] ?? before?.block[field]);
    if (kept === undefined && before?.unopened === undefined && needed.includes(field)) refuse(field, GONE_RULE);
    if (before === undefined || removed.includes(field) || (kept === undefined && before.unopened === undefined))
      continue;
    if (destination(kind, name, before.block, field) !== destination(kind, name, wanted, field)) {
      refuse(field, KEPT_RULE);
    } else if (kept === undefined && renamedFrom !== undefined) {
      // It was sealed for the previous name, and only what reads it can seal it again.
      refuse(field, UNREAD_RULE);
    } else if (kept === undefined) unopened = before.unopened;
    else if (before.secrets[field] === undefined) block[field] = kept;
    else secrets[field] = before.secrets[field];
  }
  return { kind, name, block, secrets, unopened, managedBy: managedBy ?? before?.managedBy ?? "" };
}

/** Who gets to see a secret. */
function destination(kind: ObjectKind, name: string, block: Block, field: string): string {
  const path = [...placeOfObject(kind, name), field];
  const secret = secretFieldAt(path);
  const root = rootOf([{ kind, name, value: { ...block } }]);
  return secret === undefined ? "" : destinationOf(root, path, secret);
}

function isSame(before: Written, after: Written): boolean {
  const said = ({ block, secrets, managedBy }: Written): string =>
    JSON.stringify([sorted(block), sorted(secrets), managedBy]);
  return before.unopened === after.unopened && said(before) === said(after);
}

/** A value in which the order of names says nothing. */
export function sorted(value: RawValue): RawValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object") return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(
    entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([name, one]) => [name, sorted(one)]),
  );
}

/** An object that others still name is not deleted: the others are named instead of refused. */
function stillNamed(
  set: ObjectSet,
  entries: ReadonlyMap<string, SettingsEntry>,
  edits: readonly ObjectEdit[],
  around: Elsewhere,
): readonly ObjectProblem[] {
  return edits.flatMap(({ kind, name, block }): ObjectProblem[] => {
    if (block !== undefined || !set.entries.has(idOf({ kind, name }))) return [];
    const models = kind === "upstream" ? modelsOn(entries, name) : modelsBefore(entries, { kind, name }, around);
    const aliases = kind === "model" ? aliasesOf(entries, name, around) : [];
    const names = [...listOf("model", "models", models), ...listOf("alias", "aliases", aliases)];
    if (names.length === 0) return [];
    const them = models.length + aliases.length === 1 ? "it" : "them";
    const problem = `is named by ${names.join(" and ")}: change or delete ${them} first`;
    return [{ kind, name, field: "", problem }];
  });
}

function listOf(one: string, many: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`the ${names.length === 1 ? one : many} ${names.join(", ")}`];
}

/** The models that have a deleted model or alias as their fallback, where the file has none of its name. */
function modelsBefore(
  entries: ReadonlyMap<string, SettingsEntry>,
  { kind, name: deleted }: ObjectName,
  { outside }: Elsewhere,
): readonly string[] {
  if ((kind !== "model" && kind !== "alias") || hasModel(outside?.models ?? [], deleted)) return [];
  return [...entries.values()]
    .filter((one) => one.kind === "model" && fallbacksIn(one.block).some(({ name }) => name === deleted))
    .map(({ name }) => name);
}

/** The aliases that name a deleted model, or one of a deleted wildcard, which is not there otherwise. */
function aliasesOf(
  entries: ReadonlyMap<string, SettingsEntry>,
  deleted: string,
  { outside, fileAliases = new Map() }: Elsewhere,
): readonly string[] {
  const left = [...entries.values()].filter(({ kind }) => kind === "model").map(({ name }) => name);
  const isLost = (model: RawValue): boolean =>
    typeof model === "string" && hasModel([deleted], model) && !hasModel([...left, ...(outside?.models ?? [])], model);
  const own = [...entries.values()].filter(({ kind, block }) => kind === "alias" && isLost(block["model"]));
  const ofFile = [...fileAliases].filter(([, named]) => isLost(named));
  return [...own.map(({ name }) => name), ...ofFile.map(([name]) => `${name} of the settings file`)];
}

/** The models whose targets name an upstream. */
function modelsOn(entries: ReadonlyMap<string, SettingsEntry>, upstream: string): readonly string[] {
  return [...entries.values()]
    .filter(({ kind, block }) => kind === "model" && targetsOf(block).includes(upstream))
    .map(({ name }) => name);
}

function targetsOf(block: Block): readonly RawValue[] {
  const targets = block["targets"];
  return Array.isArray(targets) ? targets.map((target) => blockOf(target)["upstream"]) : [];
}

/** A set that was read by the schema. */
export interface CheckedSet {
  /** Undefined where anything is wrong. */
  readonly settings: Settings | undefined;
  readonly problems: readonly ObjectProblem[];
}

/**
 * Judges a whole set. `secretOf` gives what a reference stands for. Without it, nothing is read, since a set is valid
 * whether its secrets can be had here or not.
 */
export function checkSet(
  entries: Iterable<SettingsEntry>,
  { families, outside, sources }: Surroundings,
  secretOf?: (reference: string) => string,
): CheckedSet {
  const blocks: ObjectBlock[] = [];
  const problems: ObjectProblem[] = [];
  for (const { kind, name, block, secrets, unopened } of entries) {
    if (JSON.stringify(block).length > BLOCK_CHARACTERS_MAX)
      problems.push({ kind, name, field: "", problem: TOO_LARGE });
    const whole: Record<string, RawValue> = { ...block, ...secrets };
    for (const field of secretsOf(kind)) {
      const standIn = STAND_INS[field] ?? STAND_IN;
      if (unopened !== undefined) whole[field] ??= standIn;
      const refused = secretProblem(kind, whole, field, families, sources);
      if (refused !== undefined) problems.push({ kind, name, field, problem: refused });
      const reference = block[field];
      if (typeof reference === "string") whole[field] = secretOf?.(reference) ?? standIn;
    }
    const wrongName = nameProblem(kind, name);
    if (wrongName === undefined) blocks.push({ kind, name, value: whole });
    else problems.push({ kind, name, field: "", problem: wrongName });
  }
  const checked = checkBlocks(rootOf(blocks), families, outside);
  const told = new Set(problems.map(({ kind, name, field }) => JSON.stringify([kind, name, field])));
  for (const { path, rule } of checked.problems) {
    const problem = { ...placeOf(path), problem: rule };
    const place = JSON.stringify([problem.kind, problem.name, problem.field]);
    // Of several at one value the first says enough.
    if (!told.has(place)) problems.push(problem);
    told.add(place);
  }
  return { settings: problems.length === 0 ? checked.settings : undefined, problems };
}

function placeOf(path: Path): ObjectName & { readonly field: string } {
  const { kind, name, rest } = objectAt(path) ?? { kind: "model", name: "", rest: path };
  return { kind, name, field: formatPath(rest) };
}

/** What is wrong with a secret of an object, which only a settings file written by hand may say. */
function secretProblem(
  kind: ObjectKind,
  block: Block,
  field: string,
  families: readonly KnownFamily[],
  sources: readonly string[],
): string | undefined {
  const family = kind === "upstream" ? families.find(({ name }) => name === block["family"]) : undefined;
  const value = block[field];
  if (typeof value !== "string") return family !== undefined && takesFromMachine(family) ? MACHINE_RULE : undefined;
  const reference = parseReference(value);
  if (reference === undefined) return keyFileProblem(value, family);
  return referenceProblem(reference, sources);
}
