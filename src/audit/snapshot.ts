/** What a thing was and what it became, as JSON for the audit log: plain values, and of a change only what differs. */
import { snakeCase } from "../api/field-name.js";

type Plain = string | boolean | readonly Plain[] | { readonly [name: string]: Plain };

/** The member whose own members have the names that an owner gave them. */
const LABELS = "metadata";

/** A thing and what it became; either is absent where there was, or is, none. */
export interface Change {
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** Both as JSON, of what differs alone; empty texts where there is nothing. */
export function changeOf({ before, after }: Change): { readonly before: string; readonly after: string } {
  if (before === undefined || after === undefined) return { before: textOf(before), after: textOf(after) };
  const [was, is] = [plainObject(before), plainObject(after)];
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  const differing = [...names].filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  return { before: JSON.stringify(pick(was, differing)), after: JSON.stringify(pick(is, differing)) };
}

function textOf(thing: object | undefined): string {
  return thing === undefined ? "" : JSON.stringify(plainObject(thing));
}

function pick(from: Readonly<Record<string, Plain>>, names: readonly string[]): Record<string, Plain> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])));
}

/** The members that say something, named as the protocol names them: what is absent, zero or empty says nothing. */
function plainObject(thing: object, named = snakeCase): Record<string, Plain> {
  return Object.fromEntries(
    Object.entries(thing).flatMap(([name, value]) => {
      const plain = plainOf(value, name);
      return plain === undefined ? [] : [[named(name), plain]];
    }),
  );
}

function plainOf(value: unknown, name: string): Plain | undefined {
  switch (typeof value) {
    case "string":
      return value === "" ? undefined : value;
    case "bigint":
    case "number":
      // Whole numbers are texts, as in the protocol's JSON: some are larger than a JSON number holds.
      return value === 0n || value === 0 ? undefined : String(value);
    case "boolean":
      // False is said too: of some settings it is not the default.
      return value;
    case "object":
      return value === null ? undefined : plainOfObject(value, name);
    default:
      return undefined;
  }
}

function plainOfObject(value: object, name: string): Plain | undefined {
  if (value instanceof Date) return value.toISOString();
  // Bytes are digests and the like: nobody reads them, and some lead to secrets.
  if (value instanceof Uint8Array) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((one) => plainOf(one, "") ?? "");
  // An owner's labels are named as the owner named them.
  const plain = plainObject(value, name === LABELS ? String : snakeCase);
  return Object.keys(plain).length === 0 ? undefined : plain;
}
