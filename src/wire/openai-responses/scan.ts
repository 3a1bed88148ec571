/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { scanBody } from "../json/body.js";
import type { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import { listOf, objectOf, parsed, textOf } from "../json/value.js";
import type { RequestFacts } from "../wire.js";
import { checkField, type FieldValue, requireFields } from "../json/field.js";
import { FIELDS } from "./fields.js";
import { type Found, scanInput } from "./scan-input.js";
import { keptState } from "./stateless.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  readonly found: Found;
}

/** Tools that the client runs itself, so that they bring the upstream no more to read than the request holds. */
const CLIENTS_TOOLS = /^(function|custom|namespace|local_shell|shell|apply_patch|tool_search)$/;

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const found: Found = { imageCount: 0, fileCount: 0, audioCount: 0, mediaBytes: 0, items: [], ours: new Set() };
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    if (key === "input" && json.kind() === "array") {
      values.set(key, true);
      return scanInput(json, found);
    }
    const problem = checkField(FIELDS, json, key, values);
    if (key === "tools" && hasHostedTool(body.subarray(start, json.at))) found.fileCount++;
    return problem;
  });
  const problem = refusal ?? keptState(values);
  if (problem !== undefined) throw problem;
  requireFields(values, ["model", "input"]);
  return { facts: factsOf(values, found, cursor), open, members, found };
}

/** True where one of the tools is run by the upstream itself, which then reads what no one can know before. */
function hasHostedTool(tools: Buffer): boolean {
  return listOf(parsed(tools.toString())).some((tool) => !CLIENTS_TOOLS.test(textOf(objectOf(tool)?.["type"])));
}

function factsOf(values: ReadonlyMap<string, FieldValue>, found: Found, cursor: JsonCursor): RequestFacts {
  const outputTokensMax = values.get("max_output_tokens");
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
    audioCount: found.audioCount,
  };
}
