/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { scanBody } from "../json/body.js";
import type { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import type { RequestFacts } from "../wire.js";
import { checkField, type FieldValue, requireFields } from "../json/field.js";
import { wrongValue } from "../json/node.js";
import { FIELDS } from "./fields.js";
import { scanMessages, type MessageCounts } from "./scan-messages.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
}

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const counts: MessageCounts = { imageCount: 0, fileCount: 0, audioCount: 0, mediaBytes: 0 };
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    if (key !== "messages" || json.kind() !== "array") return checkField(FIELDS, json, key, values);
    values.set(key, true);
    return scanMessages(json, counts);
  });
  if (refusal !== undefined) throw refusal;
  requireFields(values, ["model", "messages"]);
  return { facts: factsOf(values, counts, cursor), open, members };
}

function factsOf(values: ReadonlyMap<string, FieldValue>, counts: MessageCounts, cursor: JsonCursor): RequestFacts {
  const stream = values.get("stream") === true;
  if (values.has("stream_options") && !stream)
    throw wrongValue("stream_options", "it is only allowed where 'stream' is true");
  const outputTokensMax = values.get("max_completion_tokens") ?? values.get("max_tokens");
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
    fileCount: counts.fileCount,
    audioCount: counts.audioCount,
  };
}
