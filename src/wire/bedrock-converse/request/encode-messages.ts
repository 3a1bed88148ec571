/** From typed messages to a conversation as the wire wants it. */
import type { Message } from "../../../api/index.js";
import { conversationOf, type PartWriter } from "../../claude/request/encode-conversation.js";
import type { Turn } from "../../claude/request/encode-turns.js";
import { arrayText, objectText } from "../../json/text.js";
import { cachePoint, encodeBlock, encodeCallId, type PromptContext, resultBlock, textBlock } from "./encode-parts.js";

export interface EncodedMessages {
  /** Blocks of the instructions. */
  readonly system: readonly string[];
  readonly messages: string;
}

export function encodeMessages(
  messages: readonly Message[],
  mayPrefill: boolean,
  context: PromptContext,
): EncodedMessages {
  const write: PartWriter = {
    systemTurns: false,
    block: (part, path) => encodeBlock(part, path, context),
    behind: (mark) => cachePoint(mark, context),
    callId: encodeCallId,
    text: textBlock,
    noResult: (id) => resultBlock(id, [textBlock("No result came.")], true),
  };
  const { system, turns } = conversationOf(messages, mayPrefill, write);
  return { system, messages: arrayText(turns.map(turnText)) };
}

function turnText({ speaker, blocks }: Turn): string {
  const isFilesAlone = hasBlock(blocks, "document") && !hasBlock(blocks, "text");
  return objectText([
    ["role", `"${speaker}"`],
    // A turn with a file must say something beside it; that is remembered.
    ["content", arrayText(isFilesAlone ? [...blocks, textBlock("Read what is attached.")] : blocks)],
  ]);
}

function hasBlock(blocks: readonly string[], kind: string): boolean {
  return blocks.some((block) => block.startsWith(`{"${kind}":`));
}
