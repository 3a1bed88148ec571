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

const TEXT: FieldCheck = { kinds: ["string"], must: "a string", read: anything };
const FLAG: FieldCheck = { kinds: ["boolean"], must: "true or false", read: (cursor) => cursor.readBoolean() };
const OBJECT: FieldCheck = { kinds: ["object"], must: "an object", read: anything };
const CHOICE: FieldCheck = { kinds: ["string", "object"], must: "a string or an object", read: anything };

function number(min: number, max: number): FieldCheck {
  const read = (cursor: JsonCursor): FieldValue | undefined => {
    const value = cursor.readNumber();
    return value >= min && value <= max ? value : undefined;
  };
  return { kinds: ["number"], must: `a number from ${min} to ${max}`, read };
}

function integer(min: number, max: number, must: string): FieldCheck {
  const read = (cursor: JsonCursor): FieldValue | undefined => {
    const value = cursor.readNumber();
    return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
  };
  return { kinds: ["number"], must, read };
}

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

const AT_LEAST_ONE = integer(1, Number.MAX_SAFE_INTEGER, "an integer of at least 1");

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
  ["input", { kinds: ["string"], must: "a string or an array of items", read: anything }],
  ["instructions", TEXT],
  ["max_output_tokens", AT_LEAST_ONE],
  ["max_tool_calls", AT_LEAST_ONE],
  ["temperature", number(0, 2)],
  ["top_p", number(0, 1)],
  ["top_logprobs", integer(0, 20, "an integer from 0 to 20")],
  ["stream", FLAG],
  ["store", FLAG],
  ["background", FLAG],
  ["parallel_tool_calls", FLAG],
  ["tools", all("object", "an array of objects")],
  ["include", all("string", "an array of strings")],
  ["tool_choice", CHOICE],
  ["conversation", CHOICE],
  ["text", OBJECT],
  ["reasoning", OBJECT],
  ["metadata", OBJECT],
  ["stream_options", OBJECT],
  ["prompt", OBJECT],
  ["previous_response_id", TEXT],
  ["truncation", TEXT],
  ["service_tier", TEXT],
  ["prompt_cache_key", TEXT],
  ["user", TEXT],
  ["safety_identifier", TEXT],
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
export function wrong(param: string, problem: string, code?: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", {
    param,
    problem,
    ...(code === undefined ? {} : { code }),
  });
}
