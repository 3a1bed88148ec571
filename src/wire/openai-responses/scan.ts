/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { scanBody } from "../json/body.js";
import type { JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import { parsed } from "../json/value.js";
import type { Held } from "../held-objects.js";
import { type HostedTool, scanTools } from "../hosted-tools.js";
import { Steering } from "../steering.js";
import type { RequestFacts } from "../wire.js";
import { checkField, type FieldValue, requireFields } from "../json/field.js";
import { FIELDS } from "./fields.js";
import { MEMBERS, TOOLS } from "./members.js";
import { type Found, nothingFound, scanInput } from "./scan-input.js";
import { keptState } from "./stateless.js";

/** A body that was read: its facts, and all its top-level members. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  readonly hosted: readonly HostedTool[];
  readonly held: Held | undefined;
  readonly found: Found;
}

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const steering = new Steering(MEMBERS);
  const { hosted } = steering;
  const found = nothingFound(steering);
  let choice = "";
  const { cursor, open, members, refusal } = scanBody(body, (json, key) => {
    const start = json.at;
    if (key === "input" && json.kind() === "array") {
      values.set(key, true);
      return scanInput(json, found);
    }
    if (key === "tools" && json.kind() === "array") return scanTools(json, TOOLS, steering);
    const problem = checkField(FIELDS, json, key, values);
    if (key === "tool_choice") choice = body.toString("utf8", start, json.at);
    steering.note(key, json, start);
    return problem;
  });
  const problem = refusal ?? keptState(values);
  if (problem !== undefined) throw problem;
  requireFields(values, ["model", "input"]);
  return {
    facts: factsOf(values, found, cursor, steering),
    open,
    members,
    hosted: chosen(hosted, choice),
    held: steering.held,
    found,
  };
}

/** A tool that must be called is not only offered. */
function chosen(hosted: readonly HostedTool[], choice: string): readonly HostedTool[] {
  if (hosted.length === 0 || choice === "") return hosted;
  const chosenMode = parsed(choice);
  if (chosenMode === "auto" || chosenMode === "none") return hosted;
  return hosted.map((tool) => ({ ...tool, isOfferedUnasked: false }));
}

function factsOf(
  values: ReadonlyMap<string, FieldValue>,
  found: Found,
  cursor: JsonCursor,
  steering: Steering,
): RequestFacts {
  const callsMax = values.get("max_tool_calls");
  const { serviceTier, toolCallsMax } = steering.facts(typeof callsMax === "number" ? callsMax : undefined);
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
    fileCount: found.fileCount + steering.fileCount,
    audioCount: found.audioCount,
    serviceTier,
    toolCallsMax,
  };
}
