/** The top-level fields of a request that the wire knows, and what each may hold. Any other field passes as it is. */
import { GatewayError } from "../../errors.js";
import type { JsonCursor, JsonKind } from "../json/cursor.js";
import { readMembers } from "../json/splice.js";

/** What is kept of a field that was read: its value where the gateway uses it, else that it is there. */
export type FieldValue = string | number | boolean;

interface FieldCheck {
  /** The kinds of JSON that the field may be. */
  readonly kinds: readonly JsonKind[];
  /** What it must be, as a refusal says it. */
  readonly must: string;
  /** Reads the value; undefined where it is not what it must be. */
  readonly read: (cursor: JsonCursor, kind: JsonKind) => FieldValue | undefined;
}

const MODEL_CHARACTERS_MAX = 256;
const STOP_STRINGS_MAX = 16;

const anything = (cursor: JsonCursor): FieldValue => {
  cursor.skip();
  return true;
};

const TEXT: FieldCheck = { kinds: ["string"], must: "a string", read: anything };
const FLAG: FieldCheck = { kinds: ["boolean"], must: "true or false", read: (cursor) => cursor.readBoolean() };
const OBJECT: FieldCheck = { kinds: ["object"], must: "an object", read: anything };
const CHOICE: FieldCheck = { kinds: ["string", "object"], must: "a string or an object", read: anything };
const OBJECTS: FieldCheck = { kinds: ["array"], must: "an array of objects", read: (cursor) => all(cursor, "object") };
const TEXTS: FieldCheck = { kinds: ["array"], must: "an array of strings", read: (cursor) => all(cursor, "string") };

function number(min: number, max: number): FieldCheck {
  const inRange = (value: number): FieldValue | undefined => (value >= min && value <= max ? value : undefined);
  return { kinds: ["number"], must: `a number from ${min} to ${max}`, read: (cursor) => inRange(cursor.readNumber()) };
}

function integer(min: number, max = Number.MAX_SAFE_INTEGER): FieldCheck {
  const must = max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`;
  const read = (cursor: JsonCursor): FieldValue | undefined => {
    const value = cursor.readNumber();
    return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined;
  };
  return { kinds: ["number"], must, read };
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
  ["max_completion_tokens", integer(1)],
  ["max_tokens", integer(1)],
  ["temperature", number(0, 2)],
  ["top_p", number(0, 1)],
  ["presence_penalty", number(-2, 2)],
  ["frequency_penalty", number(-2, 2)],
  ["n", integer(1, 128)],
  ["top_logprobs", integer(0, 20)],
  ["seed", { kinds: ["number"], must: "an integer", read: readSeed }],
  [
    "stop",
    {
      kinds: ["string", "array"],
      must: `a string or an array of at most ${STOP_STRINGS_MAX} strings`,
      read: (cursor, kind) => (kind === "array" ? all(cursor, "string", STOP_STRINGS_MAX) : anything(cursor)),
    },
  ],
  ["stream", FLAG],
  ["stream_options", { kinds: ["object"], must: "an object with a boolean 'include_usage'", read: readStreamOptions }],
  ["logprobs", FLAG],
  ["parallel_tool_calls", FLAG],
  ["store", FLAG],
  ["tools", OBJECTS],
  ["functions", OBJECTS],
  ["tool_choice", CHOICE],
  ["function_call", CHOICE],
  ["response_format", OBJECT],
  ["logit_bias", OBJECT],
  ["metadata", OBJECT],
  ["audio", OBJECT],
  ["prediction", OBJECT],
  ["web_search_options", OBJECT],
  ["moderation", OBJECT],
  ["prompt_cache_options", OBJECT],
  ["modalities", TEXTS],
  ["reasoning_effort", TEXT],
  ["verbosity", TEXT],
  ["service_tier", TEXT],
  ["prompt_cache_key", TEXT],
  ["prompt_cache_retention", TEXT],
  ["user", TEXT],
  ["safety_identifier", TEXT],
]);

/** Reads the member that comes next and notes its value. Returns what is wrong with it. The value is always passed. */
export function checkField(
  cursor: JsonCursor,
  key: string,
  kind: JsonKind,
  values: Map<string, FieldValue>,
): GatewayError | undefined {
  const field = FIELDS.get(key);
  if (field === undefined) {
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

/** Passes an array whose elements are all of one kind. */
function all(cursor: JsonCursor, kind: JsonKind, countMax = Infinity): FieldValue | undefined {
  let count = 0;
  let fits = true;
  cursor.enterArray();
  while (cursor.nextItem()) {
    fits &&= cursor.kind() === kind && ++count <= countMax;
    cursor.skip();
  }
  return fits ? true : undefined;
}

/** A seed may be any integer of 64 bits, which a double need not hold. */
function readSeed(cursor: JsonCursor): FieldValue | undefined {
  const start = cursor.at;
  cursor.skip();
  return /^-?\d{1,19}$/.test(cursor.bytes.toString("latin1", start, cursor.at)) ? true : undefined;
}

function readStreamOptions(cursor: JsonCursor): FieldValue | undefined {
  let value: FieldValue | undefined = true;
  for (const member of readMembers(cursor)) {
    if (member.key !== "include_usage") continue;
    const text = cursor.bytes.toString("latin1", member.valueStart, member.end);
    if (text === "true") value = "include_usage";
    else if (text !== "false" && text !== "null") value = undefined;
  }
  return value;
}
