/** From typed messages to a conversation as the wire wants it. */
import { type Message, Role } from "../../../api/index.js";
import { conversationOf, type PartWriter } from "../../claude/request/encode-conversation.js";
import type { Turn } from "../../claude/request/encode-turns.js";
import { arrayText, objectText } from "../../json/text.js";
import { encodeCallId } from "../answer/call-id.js";
import { encodeBlock, type PromptContext, textBlock } from "./encode-parts.js";

export interface EncodedMessages {
  /** Blocks of the instructions. */
  readonly system: readonly string[];
  readonly messages: string;
}

const NOTHING: readonly string[] = [];

export function encodeMessages(
  messages: readonly Message[],
  mayPrefill: boolean,
  context: PromptContext,
): EncodedMessages {
  const shown = mayPrefill ? trimmed(messages) : messages;
  const write: PartWriter = {
    systemTurns: context.rules.systemTurns,
    block: (part, path) => encodeBlock(part, path, context),
    // The mark is a member of the block.
    behind: () => NOTHING,
    callId: encodeCallId,
    text: (text) => textBlock(text),
    noResult: (id) => `{"type":"tool_result","tool_use_id":"${id}","content":"No result came.","is_error":true}`,
  };
  const { system, turns } = conversationOf(shown, mayPrefill, write);
  return { system, messages: arrayText(turns.map(turnText)) };
}

/** What the model is to go on with may not end in space. */
function trimmed(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const part = last?.parts.at(-1);
  if (last?.role !== Role.ROLE_ASSISTANT || part?.kind?.$case !== "text") return messages;
  const value = { ...part.kind.value, text: part.kind.value.text.trimEnd() };
  const parts = [...last.parts.slice(0, -1), { ...part, kind: { ...part.kind, value } }];
  return [...messages.slice(0, -1), { ...last, parts }];
}

function turnText({ speaker, blocks }: Turn): string {
  return objectText([
    ["role", `"${speaker}"`],
    ["content", arrayText(blocks)],
  ]);
}
