/** A client's own messages on the way to an upstream that wants some of their members otherwise. */
import { JsonCursor } from "../../json/cursor.js";
import { type Member, readMembers, splice } from "../../json/splice.js";
import { mayHold } from "../../json/text.js";
import { parsed, textOf } from "../../json/value.js";
import type { OpenAiChatDialect } from "../facts-dialect.js";
import { shortCallId } from "./encode-call-id.js";
import { inRoleOrder, messagesText, type RoledMessage } from "./encode-role-order.js";

type EditMap = Map<string, Buffer | string | undefined>;

const DEVELOPER = Buffer.from("developer");
const CALL_ID = Buffer.from("tool_call");
/** What upstreams of the wire call thinking; a client brings back what whoever answered last called it. */
const THOUGHTS = ["reasoning_content", "reasoning"] as const;
const A_THOUGHT = Buffer.from("reasoning");
const NAME = Buffer.from("name");

/** The messages as the upstream wants them; undefined where they are so already. */
export function fitMessages(messages: Buffer, dialect: OpenAiChatDialect): Buffer | undefined {
  if (!mayDiffer(messages, dialect)) return undefined;
  const pieces: Buffer[] = [];
  let kept = 0;
  const cursor = new JsonCursor(messages);
  const spans: { readonly start: number; readonly end: number }[] = [];
  cursor.enterArray();
  while (cursor.nextItem()) {
    const start = cursor.at;
    cursor.skip();
    spans.push({ start, end: cursor.at });
  }
  const roled: RoledMessage[] = [];
  spans.forEach(({ start, end }, place) => {
    const message = messages.subarray(start, end);
    const { role, fitted } = fitMessage(message, place === spans.length - 1, dialect);
    roled.push({ role, json: fitted ?? message });
    if (fitted === undefined) return;
    pieces.push(messages.subarray(kept, start), fitted);
    kept = end;
  });
  const ordered = inRoleOrder(roled, dialect.roleOrder);
  if (ordered !== roled) return Buffer.from(messagesText(ordered));
  return pieces.length === 0 ? undefined : Buffer.concat([...pieces, messages.subarray(kept)]);
}

/** A look at the bytes that spares most requests the reading of their messages. */
function mayDiffer(messages: Buffer, dialect: OpenAiChatDialect): boolean {
  if (dialect.thinkingRequired || dialect.prefillField !== "" || dialect.messageMembers.length > 0) return true;
  if (Object.keys(dialect.roleOrder).length > 0) return true;
  if (!dialect.developerRole && mayHold(messages, DEVELOPER)) return true;
  if (dialect.shortCallIds && mayHold(messages, CALL_ID)) return true;
  if (!dialect.messageNames && mayHold(messages, NAME)) return true;
  return dialect.lacks.includes("reasoning_content") && mayHold(messages, A_THOUGHT);
}

/** The role as the upstream has it, and the message; undefined where it is so already. */
function fitMessage(
  message: Buffer,
  isLast: boolean,
  dialect: OpenAiChatDialect,
): { readonly role: string; readonly fitted: Buffer | undefined } {
  const members = readMembers(new JsonCursor(message));
  const valueOf = (key: string): Member | undefined => members.find((member) => member.key === key);
  const text = (key: string): string => {
    const member = valueOf(key);
    return member === undefined ? "" : textOf(parsed(message.toString("utf8", member.valueStart, member.end)));
  };
  const edits: EditMap = new Map();
  const role = text("role");
  if (role === "developer" && !dialect.developerRole) edits.set("role", '"system"');
  if (!dialect.messageNames && valueOf("name") !== undefined && role !== "function") edits.set("name", undefined);
  if (dialect.shortCallIds) {
    const id = text("tool_call_id");
    if (id !== "" && shortCallId(id) !== id) edits.set("tool_call_id", JSON.stringify(shortCallId(id)));
    const calls = valueOf("tool_calls");
    const fitted = calls === undefined ? undefined : fitCalls(message.subarray(calls.valueStart, calls.end));
    if (fitted !== undefined) edits.set("tool_calls", fitted);
  }
  if (role === "assistant") {
    fitThoughts(members, message, dialect, edits);
    const { prefillField } = dialect;
    if (isLast && prefillField !== "" && valueOf("tool_calls") === undefined && valueOf(prefillField) === undefined)
      edits.set(prefillField, "true");
  }
  if (dialect.messageMembers.length > 0) fitMembers(members, message, dialect, edits);
  return {
    role: role === "developer" && !dialect.developerRole ? "system" : role,
    fitted: edits.size === 0 ? undefined : splice(message, 0, members, edits),
  };
}

/** The members that the upstream knows alone; a refusal becomes what was said, where nothing else was. */
function fitMembers(members: readonly Member[], message: Buffer, dialect: OpenAiChatDialect, edits: EditMap): void {
  const told = (key: string): string => {
    const member = members.find((one) => one.key === key);
    return member === undefined ? "null" : message.toString("utf8", member.valueStart, member.end);
  };
  for (const { key } of members) if (!dialect.messageMembers.includes(key)) edits.set(key, undefined);
  if (!dialect.messageMembers.includes("refusal") && told("content") === "null" && told("refusal") !== "null")
    edits.set("content", told("refusal"));
}

/** Thoughts under the name that the upstream has for them; an upstream that has none refuses them. */
function fitThoughts(members: readonly Member[], message: Buffer, dialect: OpenAiChatDialect, edits: EditMap): void {
  const { thinkingField, thinkingRequired } = dialect;
  const own = members.find(({ key }) => key === thinkingField);
  const other = members.find(({ key }) => key !== thinkingField && THOUGHTS.some((name) => name === key));
  if (other !== undefined && (thinkingRequired || dialect.lacks.includes("reasoning_content"))) {
    edits.set(other.key, undefined);
    if (own === undefined && thinkingRequired)
      edits.set(thinkingField, message.subarray(other.valueStart, other.end).toString());
  } else if (own === undefined && thinkingRequired) edits.set(thinkingField, '""');
}

/** The calls with ids that the upstream takes; undefined where they have such. */
function fitCalls(calls: Buffer): Buffer | undefined {
  const list = parsed(calls.toString());
  if (!Array.isArray(list)) return undefined;
  const pieces: Buffer[] = [];
  let kept = 0;
  const cursor = new JsonCursor(calls);
  cursor.enterArray();
  while (cursor.nextItem()) {
    const start = cursor.at;
    cursor.skip();
    const call = calls.subarray(start, cursor.at);
    if (call[0] !== 0x7b) continue;
    const members = readMembers(new JsonCursor(call));
    const member = members.find(({ key }) => key === "id");
    const id = member === undefined ? "" : textOf(parsed(call.toString("utf8", member.valueStart, member.end)));
    if (id === "" || shortCallId(id) === id) continue;
    pieces.push(
      calls.subarray(kept, start),
      splice(call, 0, members, new Map([["id", JSON.stringify(shortCallId(id))]])),
    );
    kept = cursor.at;
  }
  return pieces.length === 0 ? undefined : Buffer.concat([...pieces, calls.subarray(kept)]);
}
