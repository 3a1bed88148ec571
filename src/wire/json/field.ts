/** What a top-level field of a request may hold: a check for each kind of field that the wires have in common. */
import { GatewayError } from "../../base/errors.js";
import type { JsonCursor, JsonKind } from "./cursor.js";
import { MODEL_CHARACTERS_MAX, TOOLS_MAX } from "../request/request-size.js";
import { wrongValue } from "./node.js";

/** What is kept of a field that was read: its value where the gateway uses it, else that it is there. */
export type FieldValue = string | number | boolean;

export interface FieldCheck {
  /** The kinds of JSON that the field may be. */
  readonly kinds: readonly JsonKind[];
  /** What it must be, as a refusal says it. */
  readonly must: string;
  /** Reads the value, all of it; undefined where it is not what it must be. */
  readonly read: (cursor: JsonCursor, kind: JsonKind) => FieldValue | undefined;
}

/** The fields that a wire knows, by name. */
export type FieldChecks = ReadonlyMap<string, FieldCheck>;

/** Where the kind is all that is asked for. */
export const anything = (cursor: JsonCursor): FieldValue => {
  cursor.skip();
  return true;
};

export const TEXT: FieldCheck = { kinds: ["string"], must: "a string", read: anything };
export const FLAG: FieldCheck = { kinds: ["boolean"], must: "true or false", read: (cursor) => cursor.readBoolean() };
export const OBJECT: FieldCheck = { kinds: ["object"], must: "an object", read: anything };
export const CHOICE: FieldCheck = { kinds: ["string", "object"], must: "a string or an object", read: anything };
export const TOOLS: FieldCheck = {
  kinds: ["array"],
  must: `an array of at most ${TOOLS_MAX} objects`,
  read: (cursor) => readAll(cursor, "object", TOOLS_MAX),
};

export const TEXTS: FieldCheck = {
  kinds: ["array"],
  must: "an array of strings",
  read: (cursor) => readAll(cursor, "string"),
};
export const MODEL: FieldCheck = {
  kinds: ["string"],
  must: `a string of 1 to ${MODEL_CHARACTERS_MAX} characters`,
  read: (cursor) => {
    const model = cursor.readString();
    return model.length > 0 && model.length <= MODEL_CHARACTERS_MAX ? model : undefined;
  },
};

export function number(min: number, max: number): FieldCheck {
  const inRange = (value: number): FieldValue | undefined => (value >= min && value <= max ? value : undefined);
  return { kinds: ["number"], must: `a number from ${min} to ${max}`, read: (cursor) => inRange(cursor.readNumber()) };
}

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): FieldCheck {
  const must = max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`;
  const read = (cursor: JsonCursor): FieldValue | undefined => {
    const value = cursor.readNumber();
    return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
  };
  return { kinds: ["number"], must, read };
}

/** Passes an array; undefined where an element is of another kind, or where there are too many. */
export function readAll(cursor: JsonCursor, kind: JsonKind, countMax = Infinity): FieldValue | undefined {
  let count = 0;
  let fits = true;
  cursor.enterArray();
  while (cursor.nextItem()) {
    fits &&= cursor.kind() === kind && ++count <= countMax;
    cursor.skip();
  }
  return fits ? true : undefined;
}

/**
 * Reads the member that comes next and notes its value. Returns what is wrong with it. The value is always passed: that
 * of a field that nobody knows, and null, which stands for none, as they are.
 */
export function checkField(
  fields: FieldChecks,
  cursor: JsonCursor,
  key: string,
  values: Map<string, FieldValue>,
): GatewayError | undefined {
  const field = fields.get(key);
  const kind = cursor.kind();
  if (field === undefined || kind === "null") {
    cursor.skip();
    return undefined;
  }
  if (!field.kinds.includes(kind)) {
    cursor.skip();
    return wrongValue(key, `it must be ${field.must}, not ${kind}`);
  }
  const value = field.read(cursor, kind);
  if (value === undefined) return wrongValue(key, `it must be ${field.must}`);
  values.set(key, value);
  return undefined;
}

/** Throws PARAMETER_MISSING for the first of the fields that was not read. */
export function requireFields(values: ReadonlyMap<string, FieldValue>, keys: readonly string[]): void {
  for (const key of keys)
    if (!values.has(key)) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: key });
}
