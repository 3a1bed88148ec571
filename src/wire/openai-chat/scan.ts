/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { GatewayError } from "../../errors.js";
import { JsonCursor, type JsonKind } from "../json/cursor.js";
import { claimKey, type Member } from "../json/splice.js";
import type { RequestFacts } from "../wire.js";
import { checkField, type FieldValue } from "./fields.js";
import { scanMessages, type MessageCounts } from "./scan-messages.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
}

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const cursor = new JsonCursor(body);
  if (body.length === 0) throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "it is empty" });
  if (cursor.kind() !== "object") throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "no JSON object" });
  const open = cursor.at;
  const members: Member[] = [];
  const values = new Map<string, FieldValue>();
  const keys = new Set<string>();
  const counts: MessageCounts = { imageCount: 0, fileCount: 0, audioCount: 0, mediaBytes: 0 };
  // A refusal of a parameter waits for the end: a body that is no JSON at all is told so first.
  let refusal: unknown;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    claimKey(keys, key);
    const start = cursor.memberStart;
    const valueStart = cursor.at;
    if (key === "messages" && cursor.kind() === "array") {
      const problem = scanMessages(cursor, counts);
      refusal ??= problem;
      values.set(key, true);
    } else {
      const value = readField(cursor, key, values);
      refusal ??= value;
    }
    members.push({ key, start, valueStart, end: cursor.at });
  }
  cursor.finish();
  if (refusal !== undefined) throw refusal;
  for (const key of ["model", "messages"])
    if (!values.has(key)) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: key });
  return { facts: factsOf(values, counts, cursor), open, members };
}

/** Reads one member other than the messages. Returns what is wrong with it. */
function readField(cursor: JsonCursor, key: string, values: Map<string, FieldValue>): GatewayError | undefined {
  const kind: JsonKind = cursor.kind();
  if (kind === "null") {
    cursor.skip();
    return undefined;
  }
  return checkField(cursor, key, kind, values);
}

function factsOf(values: ReadonlyMap<string, FieldValue>, counts: MessageCounts, cursor: JsonCursor): RequestFacts {
  const stream = values.get("stream") === true;
  if (values.has("stream_options") && !stream)
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", {
      param: "stream_options",
      problem: "it is only allowed where 'stream' is true",
    });
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
