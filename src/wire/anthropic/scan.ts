/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import type { GatewayError } from "../../errors.js";
import { scanBody } from "../json/body.js";
import type { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import type { Held } from "../held-objects.js";
import { type HostedTool, scanTools } from "../hosted-tools.js";
import { Steering } from "../steering.js";
import type { RequestFacts, SourceBody } from "../wire.js";
import { checkField, type FieldValue, requireFields } from "../json/field.js";
import { wrongValue } from "../json/node.js";
import { FIELDS } from "./fields.js";
import { MEMBERS, TOOLS } from "./members.js";
import { type Found, type MarkedList, MessageScan } from "./scan-messages.js";
import { VERSION_DEFAULT, VERSION_HEADER, VERSION_STRICT, VERSIONS } from "./schema.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  readonly hosted: readonly HostedTool[];
  readonly held: Held | undefined;
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
  const found: Found = { imageCount: 0, fileCount: 0, mediaBytes: 0, ourThoughts: [], held: undefined };
  const steering = new Steering(MEMBERS);
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    let problem: GatewayError | undefined;
    if (key === "messages" && json.kind() === "array") {
      problem = new MessageScan(json, found, isStrict).messages();
      values.set(key, true);
    } else if (key === "tools" && json.kind() === "array") problem = scanTools(json, TOOLS, steering);
    else problem = checkField(FIELDS, json, key, values);
    steering.note(key, json, start);
    return isStrict && SAMPLING.has(key) ? wrongValue(key, "Extra inputs are not permitted") : problem;
  });
  if (!VERSIONS.includes(version)) throw wrongValue(VERSION_HEADER, `it must be ${VERSIONS.join(" or ")}`);
  if (refusal !== undefined) throw refusal;
  requireFields(values, purpose === "count" ? ["model", "messages"] : ["model", "max_tokens", "messages"]);
  const facts = factsOf(values, found, cursor, steering);
  return {
    facts,
    open,
    members,
    hosted: steering.hosted,
    held: steering.held ?? found.held,
    ourThoughts: found.ourThoughts,
  };
}

function factsOf(
  values: ReadonlyMap<string, FieldValue>,
  found: Found,
  cursor: JsonCursor,
  steering: Steering,
): RequestFacts {
  const { serviceTier, container, toolCallsMax } = steering.facts();
  const outputTokensMax = values.get("max_tokens");
  return {
    model: String(values.get("model")),
    stream: values.get("stream") === true,
    // The wire tells the usage of every stream.
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: typeof outputTokensMax === "number" ? outputTokensMax : undefined,
    textBytes: cursor.bytes.length - found.mediaBytes,
    hasSpelledSigns: cursor.hasSpelledSigns,
    imageCount: found.imageCount,
    fileCount: found.fileCount + steering.fileCount,
    audioCount: 0,
    serviceTier,
    container,
    toolCallsMax,
  };
}
