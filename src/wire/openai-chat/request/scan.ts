/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { scanBody } from "../../json/body.js";
import { scanTools } from "../../request/hosted-tools.js";
import { LIMIT_NAMES } from "../../openai/request/members.js";
import { keptId } from "../../request/kept-ids.js";
import { Steering } from "../../request/steering.js";
import { factsOf } from "../../request/scan-facts.js";
import type { ScannedBody } from "../../request/scanned-request.js";
import { checkField, type FieldValue, requireFields } from "../../json/field.js";
import { wrongValue } from "../../json/node.js";
import { FIELDS } from "./scan-fields.js";
import { MEMBERS, OWN_WORDS, TOOLS } from "./members.js";
import { MessageCounts, scanMessages } from "./scan-messages.js";

export type Scan = ScannedBody;

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const steering = new Steering(MEMBERS);
  const counts = new MessageCounts(steering);
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    if (key === "messages" && json.kind() === "array") {
      values.set(key, true);
      return scanMessages(json, counts);
    }
    if (key === "tools" && json.kind() === "array") return scanTools(json, TOOLS, steering);
    const problem = checkField(FIELDS, json, key, values);
    return steering.note(key, json, start) ?? problem;
  });
  if (refusal !== undefined) throw refusal;
  requireFields(values, ["model", "messages"]);
  if (values.has("stream_options") && values.get("stream") !== true)
    throw wrongValue("stream_options", "it is only allowed where 'stream' is true");
  const { hosted } = steering;
  const facts = factsOf(values, counts, cursor, steering, {
    includeUsage: values.get("stream_options") === "include_usage",
    candidateCount: values.get("n"),
    outputTokensMax: values.get("max_completion_tokens") ?? values.get("max_tokens") ?? otherLimit(values),
  });
  return { facts, open, members, hosted, held: steering.held ?? counts.held ?? keptId(cursor, OWN_WORDS) };
}

/** The limit by a name that OpenAI does not know. One below 1 is none. */
function otherLimit(values: ReadonlyMap<string, FieldValue>): FieldValue | undefined {
  for (const name of LIMIT_NAMES) {
    const limit = values.get(name);
    if (typeof limit === "number" && limit >= 1) return limit;
  }
  return undefined;
}
