/** The one pass over a client's body: what the gateway must know, and where what it owns stands. */
import { scanBody } from "../../json/body.js";
import { parsed } from "../../json/value.js";
import { type HostedTool, scanTools } from "../../request/hosted-tools.js";
import { keptId } from "../../request/kept-ids.js";
import { Steering } from "../../request/steering.js";
import { factsOf } from "../../request/scan-facts.js";
import type { ScannedBody } from "../../request/scanned-request.js";
import { checkField, type FieldValue, requireFields } from "../../json/field.js";
import { SUM_UP_BYTES } from "../facts-summary.js";
import { FIELDS } from "./scan-fields.js";
import { MEMBERS, OWN_WORDS, TOOLS } from "./members.js";
import { Found, scanInput } from "./scan-messages.js";
import { keptState } from "./scan-stateless.js";

/** What the gateway must know of a body. */
export interface Scan extends ScannedBody {
  readonly found: Found;
}

/** Reads and checks a body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const steering = new Steering(MEMBERS);
  const { hosted } = steering;
  const found = new Found(steering);
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
    return steering.note(key, json, start) ?? problem;
  });
  const problem = refusal ?? keptState(values);
  if (problem !== undefined) throw problem;
  requireFields(values, ["model", "input"]);
  // The wire tells the usage of every stream, and gives one answer.
  const own = {
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: values.get("max_output_tokens"),
    callsMax: values.get("max_tool_calls"),
  };
  const facts = factsOf(values, found, cursor, steering, own);
  return {
    // Who sums it up is known only when it is routed.
    facts: found.trigger === undefined ? facts : { ...facts, textBytes: facts.textBytes + SUM_UP_BYTES },
    open,
    members,
    hosted: chosen(hosted, choice),
    held: steering.held ?? keptId(cursor, OWN_WORDS),
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
