/** A client's own body on the way to an upstream that differs from OpenAI: only what differs is rewritten. */
import { GatewayError } from "../../../base/errors.js";
import { JsonCursor } from "../../json/cursor.js";
import type { Member } from "../../json/splice.js";
import { mayHold } from "../../json/text.js";
import { listOf, objectOf, parsed } from "../../json/value.js";
import type { ModelFacts } from "../../wire.js";
import type { CompleteDialect } from "../facts-dialect.js";
import { IN_MESSAGES, IN_TOOLS, withoutMarks } from "./encode-fitted-marks.js";
import { fitMessages } from "./encode-fitted-messages.js";
import { mustReportDropped } from "./encode-lacking.js";
import { thinkingMembers } from "./encode-thinking.js";

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
    if (text !== undefined && mustReportDropped(key, text, context.model)) context.dropped.push(key);
    edits.set(key, undefined);
  }
  const bytesOf = (key: string): Buffer | undefined => {
    const member = seen.get(key);
    const edited = edits.get(key);
    if (edited !== undefined) return Buffer.from(edited);
    return member && body.subarray(member.valueStart, member.end);
  };
  if (dialect.lacks.includes("cache_control")) fitMarks(bytesOf, context, edits);
  const messages = bytesOf("messages");
  const fitted = messages && fitMessages(messages, dialect);
  if (fitted !== undefined) edits.set("messages", fitted);
}

/** A prompt without marks of the cache costs more, and says the same. */
function fitMarks(bytesOf: (key: string) => Buffer | undefined, { dropped }: FitContext, edits: EditMap): void {
  for (const [key, within] of [["messages", IN_MESSAGES] as const, ["tools", IN_TOOLS] as const]) {
    const told = bytesOf(key);
    const cleaned = told && withoutMarks(told, within);
    if (cleaned === undefined) continue;
    edits.set(key, cleaned);
    dropped.push("cache_control");
  }
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

/**
 * `required` in the upstream's word, `validated` as the nearest that all know; a choice among several tools as an offer
 * of those alone.
 */
function fitChoice(textOf: (key: string) => string | undefined, { dialect }: FitContext, edits: EditMap): void {
  const choice = textOf("tool_choice");
  const required = JSON.stringify(dialect.requiredChoice);
  if (choice === undefined) return;
  if (dialect.requiredChoice !== "required" && parsed(choice) === "required") edits.set("tool_choice", required);
  if (choice === '"validated"') edits.set("tool_choice", '"auto"');
  if (dialect.allowedTools || !mayHold(choice, "allowed_tools")) return;
  const chosen = objectOf(parsed(choice));
  if (chosen?.["type"] !== "allowed_tools") return;
  const allowed = objectOf(chosen["allowed_tools"]);
  const names = new Set(listOf(allowed?.["tools"]).map(nameOf));
  const offered = toolsIn(textOf("tools") ?? "[]").filter((tool) => names.has(nameOf(parsed(tool.toString()))));
  edits.set("tools", `[${offered.join(",")}]`);
  edits.set("tool_choice", allowed?.["mode"] === "required" ? required : '"auto"');
}

function nameOf(tool: unknown): unknown {
  return objectOf(objectOf(tool)?.["function"])?.["name"];
}

/** The tools, each as its bytes. */
function toolsIn(tools: string): Buffer[] {
  const cursor = new JsonCursor(Buffer.from(tools));
  const items: Buffer[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) {
    const start = cursor.at;
    cursor.skip();
    items.push(cursor.bytes.subarray(start, cursor.at));
  }
  return items;
}

function refuseCustomTools(tools: string | undefined, { model }: FitContext): void {
  if (tools === undefined || !mayHold(tools, "custom")) return;
  const place = toolsIn(tools).findIndex((tool) => objectOf(parsed(tool.toString()))?.["type"] === "custom");
  if (place === -1) return;
  const problem = "it knows no tools that take free text";
  throw new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: `tools[${place}]`, problem, model });
}
