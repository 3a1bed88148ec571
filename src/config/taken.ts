/**
 * What a settings text that is edited over the API takes from the environment, and from the secrets of the file before
 * it. Whoever edits it has no shell: what it may not take could otherwise be read, or sent to an address of theirs.
 */
import type { ConfigError } from "./config-error.js";
import {
  blockOf,
  type Path,
  type Problem,
  type RawValue,
  readDocument,
  type SettingsDocument,
} from "./yaml-document.js";
import { refusal } from "./file.js";
import type { KeptSecret } from "./kept-secrets.js";
import type { KnownFamily } from "./references.js";
import { destinationOf, secretFieldAt } from "./secret-fields.js";
import { isAllowedVariable, isOwnVariable } from "./secret-sources.js";
import { variablesIn } from "./variable-references.js";

/** A text with its secrets. */
export interface WholeText {
  readonly text: string;
  /** The secrets that were not typed into it, by where they begin. */
  readonly kept: ReadonlyMap<number, KeptSecret>;
}

/** What the start of the gateway allows. */
export interface Allowed {
  readonly families: readonly KnownFamily[];
  /** Beginnings of references, such as `env:OPENAI_`. */
  readonly sources: readonly string[];
}

const PLAIN_RULE =
  "takes a variable of the environment, which only secrets may do in a text that is edited here: write the value" +
  " itself, or write the reference into the file by hand";
const KEPT_RULE = "is kept for another address or another kind of field: write the secret itself anew";
const LOST_RULE = "has a kept secret where none can be read: write the secret itself";
const IDENTITY_RULE =
  "is missing: without it this machine's own identity is used, which only a file that is written by hand may do";
const KEY_FILE_RULE =
  "must be the key itself, in JSON: only a file that is written by hand may name a file that holds it";
const ONE_REFERENCE = /^\$\{\w+\}$/;

/**
 * Undefined where the text may be used. What the file before it takes already, for the same field and address, it may
 * take again; anything else only where it is a secret and the start allows its variable.
 */
export function takenRefusal(
  after: WholeText,
  before: WholeText,
  allowed: Allowed,
  fileName: string,
): ConfigError | undefined {
  const known = new Set(takingsOf(before, allowed).found.map(({ identity }) => identity));
  const { found, document, lost } = takingsOf(after, allowed);
  const problems = found.flatMap(({ identity, path, rule }): Problem[] =>
    rule === undefined || known.has(identity) ? [] : [document.problemAt(path, rule)],
  );
  if (lost) problems.push(document.problemAt([], LOST_RULE));
  return problems.length === 0 ? undefined : refusal(problems, [{ name: fileName }]);
}

/** One thing that a text takes. */
interface Taking {
  /** Equal where the same is taken for the same address. */
  readonly identity: string;
  readonly path: Path;
  /** Why it may not be taken anew. Undefined: it may. */
  readonly rule: string | undefined;
}

interface Takings {
  readonly document: SettingsDocument;
  readonly found: readonly Taking[];
  /** True where a text that can be read has a kept secret that is not read as the value that it was before. */
  readonly lost: boolean;
}

function takingsOf({ text, kept }: WholeText, allowed: Allowed): Takings {
  const values: { readonly text: string; readonly path: Path; readonly secret: KeptSecret | undefined }[] = [];
  const unread = new Set(kept.keys());
  // No variable is looked up: an answer must not even say which are set.
  const document = readDocument(text, (value, { path, offset }) => {
    const secret = kept.get(offset);
    if (secret?.value === value) unread.delete(offset);
    // A secret in a block of the reader's own says nothing there: an alias of it is read where it stands.
    if (secret === undefined || !String(path[0]).startsWith("x-")) values.push({ text: value, path, secret });
    return value;
  });
  const { root } = document;
  const found = values.flatMap(({ text: value, path, secret }): Taking[] => {
    const field = secretFieldAt(path);
    const names = variablesIn(value);
    if (secret === undefined && field === undefined && names.length === 0) return [];
    const place = field === undefined ? path.map(String) : destinationOf(root, path, field);
    if (secret !== undefined) return [{ identity: identityOf("kept", secret.start, place), path, rule: KEPT_RULE }];
    const rule = field === undefined ? PLAIN_RULE : secretRule(value, names, familyAt(root, path, allowed), allowed);
    return [{ identity: identityOf("written", value, place), path, rule }];
  });
  return {
    document,
    found: [...found, ...machineIdentities(root, allowed)],
    lost: root !== undefined && unread.size > 0,
  };
}

function identityOf(kind: string, what: string | number, place: string | readonly string[]): string {
  return JSON.stringify([kind, what, place]);
}

/** Why a secret that is written anew is refused. */
function secretRule(
  value: string,
  names: readonly string[],
  family: KnownFamily | undefined,
  { sources }: Allowed,
): string | undefined {
  const name = names.find((one) => !isAllowedVariable(one, sources));
  if (name !== undefined)
    return isOwnVariable(name)
      ? `must not take ${name}: it is the gateway's own. Write it by hand where that is meant.`
      : `takes ${name} for an address that only a file written by hand may give it to: write the secret itself, or` +
          ` start the gateway with env:${name} in TOLLGATE_SECRET_SOURCES`;
  return ONE_REFERENCE.test(value) ? undefined : keyFileProblem(value, family);
}

/** Why a credential may not name a file that holds it. Undefined: it names none. */
export function keyFileProblem(value: string, family: KnownFamily | undefined): string | undefined {
  return family?.readsKeyFile === true && !value.trimStart().startsWith("{") ? KEY_FILE_RULE : undefined;
}

/** Upstreams that use what the machine is known by, since they have no credential of their own. */
function machineIdentities(root: RawValue, allowed: Allowed): readonly Taking[] {
  return Object.entries(blockOf(blockOf(root)["upstreams"])).flatMap(([id, upstream]): Taking[] => {
    const path = ["upstreams", id, "api_key"];
    const field = secretFieldAt(path);
    if (field === undefined || blockOf(upstream)["api_key"] !== undefined) return [];
    const family = familyAt(root, path, allowed);
    const name = String(blockOf(upstream)["family"]);
    // A family whose name the environment says may be any.
    const usesMachine = family === undefined ? variablesIn(name).length > 0 : takesFromMachine(family);
    return usesMachine
      ? [{ identity: identityOf("machine", "", destinationOf(root, path, field)), path, rule: IDENTITY_RULE }]
      : [];
  });
}

/** True of a family that takes a credential from the machine where it is given none. */
export function takesFromMachine({ needsKey, keyVariable, authorize }: KnownFamily): boolean {
  return !needsKey && (keyVariable !== undefined || authorize !== undefined);
}

/** Of a field of an upstream. */
function familyAt(root: RawValue, [top, id]: Path, { families }: Allowed): KnownFamily | undefined {
  if (top !== "upstreams") return undefined;
  const name = blockOf(blockOf(blockOf(root)["upstreams"])[String(id)])["family"];
  return families.find((family) => family.name === name);
}
