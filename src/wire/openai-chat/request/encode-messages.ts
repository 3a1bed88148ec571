/** From typed messages to the messages of a body. */
import { type Message, type Part, Role, type ToolCall, type ToolResult } from "../../../api/index.js";
import { JsonCursor } from "../../json/cursor.js";
import { readMembers } from "../../json/splice.js";
import { arrayText, checkedJson, jsonOf, type MemberTexts, objectText } from "../../json/text.js";
import type { ModelFacts } from "../../wire.js";
import { textPart } from "../../request/part.js";
import { anthropicsOwn } from "../../claude/answer/proof.js";
import { detailJson, detailOfPart, isPlain } from "../answer/proof.js";
import type { OpenAiChatDialect } from "../facts-dialect.js";
import { shortCallId } from "./encode-call-id.js";
import { encodeContent, isContent, type PartContext } from "./encode-parts.js";
import { inRoleOrder, type RoledMessage } from "./encode-role-order.js";

/** What the writing of messages depends on. */
export interface MessageContext extends PartContext {
  readonly dialect: OpenAiChatDialect;
  readonly facts: ModelFacts;
  /** True where the messages come from another wire, whose untyped fields mean nothing here. */
  readonly isForeign: boolean;
}

/** The messages in an order that the upstream takes. One typed message may need several: results stand alone here. */
export function encodeMessages(messages: readonly Message[], context: MessageContext): readonly RoledMessage[] {
  const told: RoledMessage[] = [];
  // What tools returned beside text follows their results as the user's: nothing may stand between results.
  let carried: Part[] = [];
  messages.forEach((message, place) => {
    const path = `messages[${place}]`;
    const results = message.parts.filter((part) => part.kind?.$case === "toolResult");
    const others = message.parts.filter((part) => part.kind?.$case !== "toolResult");
    if (results.length === 0 && carried.length > 0) {
      told.push(encodeUser(carried, path, context));
      carried = [];
    }
    for (const result of results) {
      if (result.kind?.$case !== "toolResult") continue;
      const rest = results.length === 1 && others.length === 0 ? restOf(message, path, context) : [];
      told.push({ role: "tool", json: encodeToolResult(result.kind.value, path, context, rest) });
      carried.push(...result.kind.value.parts.filter((part) => isMedia(part)));
    }
    if (results.length > 0) carried.push(...others);
    else if (!isThoughtAlone(message, context))
      told.push(encodeMessage(message, path, context, place === messages.length - 1));
  });
  if (carried.length > 0) told.push(encodeUser(carried, "messages", context));
  return inRoleOrder(told, context.dialect.roleOrder);
}

/** A turn of another wire of which nothing is left here: its thought has no place. */
function isThoughtAlone({ parts }: Message, { isForeign, dialect }: MessageContext): boolean {
  if (!isForeign || dialect.thinkingField !== "" || parts.length === 0) return false;
  return parts.every(({ kind }) => kind?.$case === "thinking" || kind?.$case === "redactedThinking");
}

function encodeUser(parts: readonly Part[], path: string, context: MessageContext): RoledMessage {
  return { role: "user", json: `{"role":"user","content":${encodeContent(parts, path, context)}}` };
}

function encodeMessage(message: Message, path: string, context: MessageContext, isLast: boolean): RoledMessage {
  if (message.role === Role.ROLE_ASSISTANT)
    return { role: "assistant", json: encodeAssistant(message, path, context, isLast) };
  const role = roleName(message.role, context.dialect);
  const members: MemberTexts = [
    ["role", `"${role}"`],
    ["content", encodeContent(message.parts.filter(isContent), path, context)],
  ];
  return { role, json: objectText([...members, ...restOf(message, path, context)]) };
}

function roleName(role: Role, dialect: OpenAiChatDialect): string {
  if (role === Role.ROLE_SYSTEM) return "system";
  if (role === Role.ROLE_DEVELOPER) return dialect.developerRole ? "developer" : "system";
  return "user";
}

/** The name and the fields without a typed home. */
function restOf(message: Message, path: string, context: MessageContext): MemberTexts {
  const members: (readonly [string, string | undefined])[] = [];
  if (context.dialect.messageNames) members.push(["name", jsonOf(message.name)]);
  else if (message.name !== undefined && !context.isForeign) context.drop(`${path}.name`);
  if (message.extraJson === undefined || context.isForeign) return members;
  const param = `${path}.extra_json`;
  const bytes = Buffer.from(checkedJson(message.extraJson, param) ?? "{}");
  for (const member of readMembers(new JsonCursor(bytes)))
    if (!MESSAGE_FIELDS.has(member.key))
      members.push([member.key, bytes.toString("utf8", member.valueStart, member.end)]);
  return members;
}

/** Fields that have a typed home, so that nothing untyped may stand beside them. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "tool_calls",
  "tool_call_id",
  "function_call",
  "audio",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
]);

function encodeAssistant(message: Message, path: string, context: MessageContext, isLast: boolean): string {
  const { prefillField } = context.dialect;
  const calls = message.parts.flatMap(({ kind }) =>
    kind?.$case === "toolCall" ? [encodeToolCall(kind.value, context)] : [],
  );
  const { messageMembers } = context.dialect;
  const hasRefusals = messageMembers.length === 0 || messageMembers.includes("refusal");
  const parts = hasRefusals ? message.parts : message.parts.map(refusalAsText);
  const refusal = trailingRefusal(parts);
  const content = parts.filter(
    (part) => isContent(part) && !isMedia(part) && !(refusal !== undefined && part.kind?.$case === "refusal"),
  );
  // Content may only be absent beside calls, and an empty string is what every server takes.
  const isAbsent = content.length === 0 && (calls.length > 0 || refusal !== undefined);
  const members: MemberTexts = [
    ["role", '"assistant"'],
    ...encodeThinking(message.parts, context),
    ["content", isAbsent ? "null" : encodeContent(content, path, context)],
    ["refusal", jsonOf(refusal)],
    ["tool_calls", calls.length === 0 ? undefined : arrayText(calls)],
    ["audio", encodeAudioId(message.parts)],
    [prefillField, isLast && calls.length === 0 && prefillField !== "" ? "true" : undefined],
  ];
  return objectText([...members, ...restOf(message, path, context)]);
}

function refusalAsText(part: Part): Part {
  return part.kind?.$case === "refusal" ? textPart(part.kind.value.text) : part;
}

/** The refusal, where it is the only one and ends the content; elsewhere it stands among the parts. */
function trailingRefusal(parts: readonly Part[]): string | undefined {
  const content = parts.filter(isContent);
  const refusals = content.filter((part) => part.kind?.$case === "refusal");
  const last = content.at(-1)?.kind;
  return refusals.length === 1 && last?.$case === "refusal" ? last.value.text : undefined;
}

function encodeThinking(parts: readonly Part[], { dialect, isForeign }: MessageContext): MemberTexts {
  if (dialect.thinkingField === "") return [];
  if (dialect.thinkingField === "reasoning_details") {
    const details = parts.flatMap((part) => {
      const told = detailOfPart(part);
      if (told === undefined) return [];
      // A signature without a format is taken for Anthropic's, so any other stays away.
      const isOthers = isForeign && isPlain(told) && anthropicsOwn(told.proof) === undefined;
      const detail = isOthers ? { ...told, proof: "" } : told;
      return detail.text === "" && detail.proof === "" ? [] : [JSON.stringify(detailJson(detail))];
    });
    return [["reasoning_details", details.length === 0 ? undefined : arrayText(details)]];
  }
  const text = parts.map(({ kind }) => (kind?.$case === "thinking" ? kind.value.text : "")).join("");
  return [[dialect.thinkingField, text === "" && !dialect.thinkingRequired ? undefined : JSON.stringify(text)]];
}

function encodeToolCall(call: ToolCall, { dialect }: MessageContext): string {
  const type = call.custom ? "custom" : "function";
  const field = call.custom ? "input" : "arguments";
  const called = `{"name":${JSON.stringify(call.name)},"${field}":${JSON.stringify(call.arguments)}}`;
  const state = call.signature === undefined ? undefined : { google: { thought_signature: call.signature } };
  return objectText([
    ["id", jsonOf(dialect.shortCallIds ? shortCallId(call.id) : call.id)],
    ["type", `"${type}"`],
    [type, called],
    ["extra_content", state === undefined ? undefined : JSON.stringify(state)],
  ]);
}

function encodeAudioId(parts: readonly Part[]): string | undefined {
  for (const { kind } of parts)
    if (kind?.$case === "audio" && kind.value.source?.$case === "fileId")
      return `{"id":${JSON.stringify(kind.value.source.value)}}`;
  return undefined;
}

/** A result is text alone on this wire: what is not is named in it and follows as the user's. */
function encodeToolResult(result: ToolResult, path: string, context: MessageContext, rest: MemberTexts): string {
  const parts = result.parts.map((part): Part => (isMedia(part) ? textPart(`[${part.kind?.$case} follows]`) : part));
  const shown = result.isError ? [textPart("Error: "), ...parts] : parts;
  const content = shown.filter(isContent);
  const members: MemberTexts = [
    ["role", '"tool"'],
    ["tool_call_id", jsonOf(context.dialect.shortCallIds ? shortCallId(result.callId) : result.callId)],
    ["content", encodeContent(context.isForeign ? joined(content) : content, path, context)],
  ];
  return objectText([...members, ...rest]);
}

/** Texts as one, which every server takes; other wires have several where clients of this one have a string. */
function joined(parts: readonly Part[]): readonly Part[] {
  const texts = parts.flatMap(({ kind }) => (kind?.$case === "text" ? [kind.value.text] : []));
  return texts.length < parts.length || texts.length < 2 ? parts : [textPart(texts.join(""))];
}

function isMedia({ kind }: Part): boolean {
  return kind?.$case === "image" || kind?.$case === "file" || kind?.$case === "audio";
}
