/** The top-level fields of a request that the wire knows, and what each may hold. Any other field passes as it is. */
import {
  anything,
  type FieldCheck,
  type FieldChecks,
  FLAG,
  integer,
  MODEL,
  number,
  OBJECT,
  TOOLS,
  TEXT,
  TEXTS,
} from "../../json/field.js";

const COUNT = integer(0);

export const FIELDS: FieldChecks = new Map<string, FieldCheck>([
  ["model", MODEL],
  ["messages", { kinds: ["array"], must: "an array of messages", read: anything }],
  ["max_tokens", COUNT],
  ["stream", FLAG],
  ["system", { kinds: ["string", "array"], must: "a string or an array of text blocks", read: anything }],
  ["temperature", number(0, 1)],
  ["top_p", number(0, 1)],
  ["top_k", COUNT],
  ["stop_sequences", TEXTS],
  ["tools", TOOLS],
  ["tool_choice", OBJECT],
  ["thinking", OBJECT],
  ["output_config", OBJECT],
  ["metadata", OBJECT],
  ["service_tier", TEXT],
]);
