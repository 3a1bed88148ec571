/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import type { GatewayError } from "../../errors.js";
import { scanBody } from "../json/body.js";
import type { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import { listOf, objectOf, parsed, textOf } from "../json/value.js";
import type { RequestFacts, SourceBody } from "../wire.js";
import { checkField, type FieldValue, requireFields } from "../json/field.js";
import { wrongValue } from "../json/node.js";
import { FIELDS } from "./fields.js";
import { type Found, type MarkedList, MessageScan } from "./scan-messages.js";
import { VERSION_DEFAULT, VERSION_HEADER, VERSION_STRICT, VERSIONS } from "./schema.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  /** Contents with thoughts that must not go to Anthropic, in their order. */
  readonly ourThoughts: readonly MarkedList[];
}

/** Tools that the upstream runs itself, and that bring it more to read than the request holds. */
const SERVER_TOOLS = ["web_search", "web_fetch", "code_execution", "tool_search", "mcp_toolset"];
const SAMPLING: ReadonlySet<string> = new Set(["temperature", "top_p", "top_k"]);

/**
 * Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. What is only counted needs no
 * limit of its output.
 */
export function scanRequest({ body, headers }: SourceBody, purpose: "generate" | "count"): Scan {
  const version = headers[VERSION_HEADER] ?? VERSION_DEFAULT;
  const isStrict = version === VERSION_STRICT;
  const values = new Map<string, FieldValue>();
  const found: Found = { imageCount: 0, fileCount: 0, mediaBytes: 0, ourThoughts: [] };
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    let problem: GatewayError | undefined;
    if (key === "messages" && json.kind() === "array") {
      problem = new MessageScan(json, found, isStrict).messages();
      values.set(key, true);
    } else problem = checkField(FIELDS, json, key, values);
    if (key === "tools" && hasServerTool(body.subarray(start, json.at))) found.fileCount++;
    return isStrict && SAMPLING.has(key) ? wrongValue(key, "Extra inputs are not permitted") : problem;
  });
  if (!VERSIONS.includes(version)) throw wrongValue(VERSION_HEADER, `it must be ${VERSIONS.join(" or ")}`);
  if (refusal !== undefined) throw refusal;
  requireFields(values, purpose === "count" ? ["model", "messages"] : ["model", "max_tokens", "messages"]);
  return { facts: factsOf(values, found, cursor), open, members, ourThoughts: found.ourThoughts };
}

/** True where one of the tools is run by the upstream itself. */
function hasServerTool(tools: Buffer): boolean {
  // Nearly all requests are told by their bytes; the few others are read once more.
  if (!tools.includes("\\u") && !SERVER_TOOLS.some((name) => tools.includes(name))) return false;
  return listOf(parsed(tools.toString())).some((tool) => {
    const type = textOf(objectOf(tool)?.["type"]);
    return SERVER_TOOLS.some((name) => type.startsWith(name));
  });
}

function factsOf(values: ReadonlyMap<string, FieldValue>, found: Found, cursor: JsonCursor): RequestFacts {
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
    fileCount: found.fileCount,
    audioCount: 0,
  };
}
