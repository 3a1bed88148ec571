/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { scanBody } from "../json/body.js";
import type { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import type { Held } from "../held-objects.js";
import { type HostedTool, scanTools } from "../hosted-tools.js";
import { LIMIT_NAMES } from "../openai-members.js";
import { Steering } from "../steering.js";
import type { RequestFacts } from "../wire.js";
import { checkField, type FieldValue, requireFields } from "../json/field.js";
import { wrongValue } from "../json/node.js";
import { FIELDS } from "./fields.js";
import { MEMBERS, TOOLS } from "./members.js";
import { scanMessages, type MessageCounts } from "./scan-messages.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  readonly hosted: readonly HostedTool[];
  readonly held: Held | undefined;
}

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const counts: MessageCounts = { imageCount: 0, fileCount: 0, audioCount: 0, mediaBytes: 0, held: undefined };
  const steering = new Steering(MEMBERS);
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    if (key === "messages" && json.kind() === "array") {
      values.set(key, true);
      return scanMessages(json, counts);
    }
    if (key === "tools" && json.kind() === "array") return scanTools(json, TOOLS, steering);
    const problem = checkField(FIELDS, json, key, values);
    steering.note(key, json, start);
    return problem;
  });
  if (refusal !== undefined) throw refusal;
  requireFields(values, ["model", "messages"]);
  const { hosted } = steering;
  const facts = factsOf(values, counts, cursor, steering);
  return { facts, open, members, hosted, held: steering.held ?? counts.held };
}

function factsOf(
  values: ReadonlyMap<string, FieldValue>,
  counts: MessageCounts,
  cursor: JsonCursor,
  steering: Steering,
): RequestFacts {
  const stream = values.get("stream") === true;
  if (values.has("stream_options") && !stream)
    throw wrongValue("stream_options", "it is only allowed where 'stream' is true");
  const outputTokensMax = values.get("max_completion_tokens") ?? values.get("max_tokens") ?? otherLimit(values);
  const { serviceTier, toolCallsMax } = steering.facts();
  const candidateCount = values.get("n");
  return {
    model: String(values.get("model")),
    stream,
    includeUsage: values.get("stream_options") === "include_usage",
    candidateCount: typeof candidateCount === "number" ? candidateCount : 1,
    outputTokensMax: typeof outputTokensMax === "number" ? outputTokensMax : undefined,
    textBytes: cursor.bytes.length - counts.mediaBytes,
    hasSpelledSigns: cursor.hasSpelledSigns,
    imageCount: counts.imageCount,
    fileCount: counts.fileCount + steering.fileCount,
    audioCount: counts.audioCount,
    serviceTier,
    toolCallsMax,
  };
}

/** The limit by a name that OpenAI does not know. One below 1 is none. */
function otherLimit(values: ReadonlyMap<string, FieldValue>): FieldValue | undefined {
  for (const name of LIMIT_NAMES) {
    const limit = values.get(name);
    if (typeof limit === "number" && limit >= 1) return limit;
  }
  return undefined;
}
