/** A client's own body on the way to an upstream that differs from OpenAI: only what differs is rewritten. */
import { GatewayError } from "../../errors.js";
import { JsonCursor } from "../json/cursor.js";
import { type Member, readMembers } from "../json/splice.js";
import { parsed } from "../json/value.js";
import type { ModelFacts } from "../wire.js";
import type { CompleteDialect } from "./dialect.js";
import { fitMessages } from "./fit-messages.js";
import { isMissed } from "./lacking.js";
import { thinkingMembers } from "./thinking-control.js";

/** What the fitting depends on. */
export interface FitContext {
  readonly dialect: CompleteDialect;
  readonly facts: ModelFacts;
  /** The model, as refusals name it. */
  readonly model: string;
  /** Takes the names of what was left out. */
  readonly dropped: string[];
}

type EditMap = Map<string, Buffer | string | undefined>;

/** Adds to the edits what this upstream wants otherwise. Throws PARAMETER_UNSUPPORTED for what it cannot do. */
export function fitSource(body: Buffer, members: readonly Member[], context: FitContext, edits: EditMap): void {
  const { dialect } = context;
  const seen = new Map(members.map((member) => [member.key, member]));
  const textOf = (key: string): string | undefined => {
    const member = seen.get(key);
    if (member === undefined) return undefined;
    const text = body.toString("utf8", member.valueStart, member.end);
    return text === "null" ? undefined : text;
  };
  const rename = (from: string, to: string): void => {
    const text = textOf(from);
    if (text === undefined || from === to) return;
    edits.set(from, undefined);
    if (!seen.has(to)) edits.set(to, text);
  };
  rename("seed", dialect.seedField);
  fitThinking(textOf, seen, context, edits);
  fitChoice(textOf, context, edits);
  if (!dialect.customTools) refuseCustomTools(textOf("tools"), context);
  for (const key of dialect.lacks) {
    const text = textOf(key);
    if (!seen.has(key)) continue;
    if (text !== undefined && isMissed(key, text, context.model)) context.dropped.push(key);
    edits.set(key, undefined);
  }
  const messages = seen.get("messages");
  if (messages === undefined) return;
  const fitted = fitMessages(body.subarray(messages.valueStart, messages.end), dialect);
  if (fitted !== undefined) edits.set("messages", fitted);
}

/** OpenAI's effort in the upstream's own member; a client that knows that member already has its say. */
function fitThinking(
  textOf: (key: string) => string | undefined,
  seen: ReadonlyMap<string, Member>,
  { dialect, facts, dropped }: FitContext,
  edits: EditMap,
): void {
  const effort = parsed(textOf("reasoning_effort") ?? "null");
  if (dialect.thinkingControl === "reasoning_effort" || typeof effort !== "string") return;
  if (seen.has(dialect.thinkingControl)) return;
  const told = thinkingMembers({ effort, budgetTokens: undefined, include: undefined }, facts, dialect);
  edits.set("reasoning_effort", undefined);
  if (told === undefined) dropped.push("reasoning_effort");
  for (const [key, json] of told ?? []) if (json !== undefined) edits.set(key, json);
}

const NAMED = /^\s*\{/;

/** `required` in the upstream's word; a choice among several tools as an offer of those alone. */
function fitChoice(textOf: (key: string) => string | undefined, { dialect, model }: FitContext, edits: EditMap): void {
  const choice = textOf("tool_choice");
  if (choice === '"required"' && dialect.requiredChoice !== "required")
    edits.set("tool_choice", JSON.stringify(dialect.requiredChoice));
  if (choice === undefined || dialect.allowedTools || !NAMED.test(choice) || !choice.includes('"allowed_tools"'))
    return;
  const problem = "it takes no choice among several tools";
  throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: "tool_choice", problem, model });
}

function refuseCustomTools(tools: string | undefined, { model }: FitContext): void {
  if (tools === undefined || !tools.includes('"custom"')) return;
  const cursor = new JsonCursor(Buffer.from(tools));
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    const start = cursor.at;
    cursor.skip();
    const tool = cursor.bytes.subarray(start, cursor.at);
    const type = readMembers(new JsonCursor(tool)).find(({ key }) => key === "type");
    if (type === undefined || tool.toString("utf8", type.valueStart, type.end) !== '"custom"') continue;
    const problem = "it knows no tools that take free text";
    throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: `tools[${place}]`, problem, model });
  }
}
