/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import type { GatewayError } from "../../../base/errors.js";
import { scanBody } from "../../json/body.js";
import { scanTools } from "../../request/hosted-tools.js";
import { keptId } from "../../request/kept-ids.js";
import { Steering } from "../../request/steering.js";
import type { SourceBody } from "../../wire.js";
import { factsOf } from "../../request/scan-facts.js";
import type { ScannedBody } from "../../request/scanned-request.js";
import { checkField, type FieldValue, requireFields } from "../../json/field.js";
import { wrongValue } from "../../json/node.js";
import { FIELDS } from "./scan-fields.js";
import { MEMBERS, OWN_WORDS, TOOLS } from "./members.js";
import { Found, type MarkedList, MessageScan } from "./scan-messages.js";
import { VERSION_DEFAULT, VERSION_HEADER, VERSION_STRICT, VERSIONS } from "../facts.js";

/** What the gateway must know of a body. */
export interface Scan extends ScannedBody {
  /** Contents with thoughts that must not go to Anthropic, in their order. */
  readonly ourThoughts: readonly MarkedList[];
}

const SAMPLING: ReadonlySet<string> = new Set(["temperature", "top_p", "top_k"]);

/**
 * Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. What is only counted needs no
 * limit of its output.
 */
export function scanRequest({ body, headers }: SourceBody, purpose: "generate" | "count"): Scan {
  const version = headers[VERSION_HEADER] ?? VERSION_DEFAULT;
  const isStrict = version === VERSION_STRICT;
  const values = new Map<string, FieldValue>();
  const steering = new Steering(MEMBERS);
  const found = new Found(steering);
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    let problem: GatewayError | undefined;
    if (key === "messages" && json.kind() === "array") {
      problem = new MessageScan(json, found, isStrict).messages();
      values.set(key, true);
    } else if (key === "tools" && json.kind() === "array") problem = scanTools(json, TOOLS, steering);
    else problem = checkField(FIELDS, json, key, values);
    problem = steering.note(key, json, start) ?? problem;
    return isStrict && SAMPLING.has(key) ? wrongValue(key, "Extra inputs are not permitted") : problem;
  });
  if (!VERSIONS.includes(version)) throw wrongValue(VERSION_HEADER, `it must be ${VERSIONS.join(" or ")}`);
  if (refusal !== undefined) throw refusal;
  requireFields(values, purpose === "count" ? ["model", "messages"] : ["model", "max_tokens", "messages"]);
  // The wire tells the usage of every stream, and gives one answer.
  const outputTokensMax = values.get("max_tokens");
  const own = { includeUsage: true, candidateCount: 1, outputTokensMax };
  return {
    facts: factsOf(values, found, cursor, steering, own),
    open,
    members,
    hosted: steering.hosted,
    held: steering.held ?? found.held ?? keptId(cursor, OWN_WORDS),
    ourThoughts: found.ourThoughts,
  };
}
