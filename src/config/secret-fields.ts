/** The fields of a settings file that hold secrets, read off its schema, and where each secret is sent. */
import { z } from "zod";
import { blockOf, type Path, type RawValue } from "./yaml-document.js";
import { rawSchema } from "./editor-schema.js";
import type { SecretMark } from "./values.js";

export interface SecretField {
  /** The way to it, with `*` for a name or an index that the file chooses. */
  readonly pattern: readonly string[];
  readonly mark: SecretMark;
}

const ANY = "*";
const MARK = z.union([
  z.object({ isSent: z.literal(false) }),
  z.object({ isSent: z.literal(true), unchangedBy: z.array(z.string()) }),
]);
const NODE = z.looseObject({
  secret: MARK.optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
});

/** Every field that the schema marks as a secret. A field without a mark is plain. */
export const SECRET_FIELDS: readonly SecretField[] = fieldsBelow(rawSchema(), []);

/** Undefined where the field is plain. */
export function secretFieldAt(path: Path): SecretField | undefined {
  return SECRET_FIELDS.find(
    ({ pattern }) =>
      pattern.length === path.length && pattern.every((part, index) => part === ANY || part === String(path[index])),
  );
}

/**
 * Names the address that the secret at a path is sent to. Of a secret that is never sent it names the kind of field.
 * Two texts that are equal mean one address.
 */
export function destinationOf(root: RawValue, path: Path, { pattern, mark }: SecretField): string {
  if (!mark.isSent) return JSON.stringify(pattern);
  const besides = new Set([...mark.unchangedBy, ...secretNamesOf(pattern)]);
  const block = entriesAt(root, path.slice(0, -1)).filter(([name]) => !besides.has(name));
  return JSON.stringify([pattern, block.toSorted(([one], [other]) => (one < other ? -1 : 1))]);
}

/** The secrets of one block: none of them says where another one goes. */
function secretNamesOf(pattern: readonly string[]): readonly string[] {
  const block = JSON.stringify(pattern.slice(0, -1));
  return SECRET_FIELDS.flatMap(({ pattern: other }) =>
    JSON.stringify(other.slice(0, -1)) === block ? other.slice(-1) : [],
  );
}

function entriesAt(root: RawValue, path: Path): readonly [string, RawValue][] {
  let at = root;
  for (const part of path) {
    const block = blockOf(at);
    at = Object.hasOwn(block, part) ? block[String(part)] : undefined;
  }
  return Object.entries(blockOf(at));
}

function fieldsBelow(schema: unknown, pattern: readonly string[]): SecretField[] {
  const read = NODE.safeParse(schema);
  if (!read.success) return [];
  const { secret, properties, additionalProperties, items } = read.data;
  return [
    ...(secret === undefined ? [] : [{ pattern, mark: secret }]),
    ...Object.entries(properties).flatMap(([name, value]) => fieldsBelow(value, [...pattern, name])),
    ...[additionalProperties, items].flatMap((value) => fieldsBelow(value, [...pattern, ANY])),
  ];
}
