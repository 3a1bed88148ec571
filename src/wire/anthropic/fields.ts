/** The top-level fields of a request that the wire knows, and what each may hold. Any other field passes as it is. */
import { GatewayError } from "../../errors.js";
import type { JsonCursor, JsonKind } from "../json/cursor.js";

/** What is kept of a field that was read: its value where the gateway uses it, else that it is there. */
export type FieldValue = string | number | boolean;

interface FieldCheck {
  readonly kinds: readonly JsonKind[];
  /** What it must be, as a refusal says it. */
  readonly must: string;
  /** Reads the value; undefined where it is not what it must be. */
  readonly read: (cursor: JsonCursor, kind: JsonKind) => FieldValue | undefined;
}

const MODEL_CHARACTERS_MAX = 256;

const anything = (cursor: JsonCursor): FieldValue => {
  cursor.skip();
  return true;
};

const OBJECT: FieldCheck = { kinds: ["object"], must: "an object", read: anything };
const TEXT: FieldCheck = { kinds: ["string"], must: "a string", read: anything };
const FLAG: FieldCheck = { kinds: ["boolean"], must: "true or false", read: (cursor) => cursor.readBoolean() };

function number(min: number, max: number): FieldCheck {
  const read = (cursor: JsonCursor): FieldValue | undefined => {
    const value = cursor.readNumber();
    return value >= min && value <= max ? value : undefined;
  };
  return { kinds: ["number"], must: `a number from ${min} to ${max}`, read };
}

/** An integer that is not negative. */
const COUNT: FieldCheck = {
  kinds: ["number"],
  must: "an integer of at least 0",
  read: (cursor) => {
    const value = cursor.readNumber();
    return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  },
};

function all(kind: JsonKind, must: string): FieldCheck {
  const read = (cursor: JsonCursor): FieldValue | undefined => {
    let fits = true;
    cursor.enterArray();
    while (cursor.nextItem()) {
      fits &&= cursor.kind() === kind;
      cursor.skip();
    }
    return fits ? true : undefined;
  };
  return { kinds: ["array"], must, read };
}

const FIELDS: ReadonlyMap<string, FieldCheck> = new Map<string, FieldCheck>([
  [
    "model",
    {
      kinds: ["string"],
      must: `a string of 1 to ${MODEL_CHARACTERS_MAX} characters`,
      read: (cursor) => {
        const model = cursor.readString();
        return model.length > 0 && model.length <= MODEL_CHARACTERS_MAX ? model : undefined;
      },
    },
  ],
  ["messages", { kinds: ["array"], must: "an array of messages", read: anything }],
  ["max_tokens", COUNT],
  ["stream", FLAG],
  ["system", { kinds: ["string", "array"], must: "a string or an array of text blocks", read: anything }],
  ["temperature", number(0, 1)],
  ["top_p", number(0, 1)],
  ["top_k", COUNT],
  ["stop_sequences", all("string", "an array of strings")],
  ["tools", all("object", "an array of objects")],
  ["tool_choice", OBJECT],
  ["thinking", OBJECT],
  ["output_config", OBJECT],
  ["metadata", OBJECT],
  ["service_tier", TEXT],
]);

/** Reads the member that comes next and notes its value. Returns what is wrong with it. The value is always passed. */
export function checkField(cursor: JsonCursor, key: string, values: Map<string, FieldValue>): GatewayError | undefined {
  const field = FIELDS.get(key);
  const kind = cursor.kind();
  if (field === undefined || kind === "null") {
    cursor.skip();
    return undefined;
  }
  if (!field.kinds.includes(kind)) {
    cursor.skip();
    return wrong(key, `it must be ${field.must}, not ${kind}`);
  }
  const value = field.read(cursor, kind);
  if (value === undefined) return wrong(key, `it must be ${field.must}`);
  values.set(key, value);
  return undefined;
}

/** The refusal of a parameter. */
export function wrong(param: string, problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param, problem });
}
