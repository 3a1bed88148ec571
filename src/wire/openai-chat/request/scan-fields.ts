/** The top-level fields of a request that the wire knows, and what each may hold. Any other field passes as it is. */
import type { JsonCursor } from "../../json/cursor.js";
import {
  anything,
  CHOICE,
  type FieldCheck,
  type FieldChecks,
  type FieldValue,
  FLAG,
  integer,
  MODEL,
  number,
  OBJECT,
  TOOLS,
  readAll,
  TEXT,
  TEXTS,
} from "../../json/field.js";
import { readMembers } from "../../json/splice.js";
import { LIMIT_NAMES } from "../../openai/request/members.js";

const STOP_STRINGS_MAX = 16;

export const FIELDS: FieldChecks = new Map<string, FieldCheck>([
  ["model", MODEL],
  ["messages", { kinds: ["array"], must: "an array of messages", read: anything }],
  ["max_completion_tokens", integer(1)],
  ["max_tokens", integer(1)],
  // Below 1 they set no limit.
  ...LIMIT_NAMES.map((name): [string, FieldCheck] => [name, integer(-2)]),
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
      read: (cursor, kind) => (kind === "array" ? readAll(cursor, "string", STOP_STRINGS_MAX) : anything(cursor)),
    },
  ],
  ["stream", FLAG],
  ["stream_options", { kinds: ["object"], must: "an object with a boolean 'include_usage'", read: readStreamOptions }],
  ["logprobs", FLAG],
  ["parallel_tool_calls", FLAG],
  ["store", FLAG],
  ["tools", TOOLS],
  ["functions", TOOLS],
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
