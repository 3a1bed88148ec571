/** From typed messages to a conversation as the wire wants it: turns that alternate, and every call answered. */
import { type Message, type Part, Role } from "../../api/index.js";
import { arrayText, objectText } from "../json/text.js";
import { completeTurns, type Turn, type TurnBlocks, turnOf } from "../turns.js";
import {
  cachePoint,
  encodeBlock,
  encodeBlocks,
  encodeCallId,
  type PromptContext,
  resultBlock,
  textBlock,
} from "./part-encode.js";

export interface Conversation {
  /** Blocks of the instructions. */
  readonly system: readonly string[];
  readonly messages: string;
}

const BLOCKS: TurnBlocks = {
  text: textBlock,
  noResult: (id) => resultBlock(id, [textBlock("No result came.")], true),
};

export function encodeConversation(
  messages: readonly Message[],
  mayPrefill: boolean,
  context: PromptContext,
): Conversation {
  const first = messages.findIndex(({ role }) => !isInstruction(role));
  const leading = first === -1 ? messages.length : first;
  const system = messages
    .slice(0, leading)
    .flatMap((message, place) => encodeBlocks(message.parts, `messages[${place}]`, context));
  const turns: Turn[] = [];
  messages
    .slice(leading)
    .forEach((message, place) => addMessage(turns, message, `messages[${leading + place}]`, context));
  return { system, messages: arrayText(completeTurns(turns, mayPrefill, BLOCKS).map(turnText)) };
}

function addMessage(turns: Turn[], { role, parts }: Message, path: string, context: PromptContext): void {
  const speaker = role === Role.ROLE_ASSISTANT ? "assistant" : "user";
  let turn = turns.at(-1);
  if (turn?.speaker !== speaker) {
    turn = turnOf(speaker);
    turns.push(turn);
  }
  for (const [place, part] of parts.entries()) {
    const block = encodeBlock(part, `${path}.content[${place}]`, context);
    if (block === undefined) continue;
    const { kind } = part;
    if (kind?.$case === "toolResult") {
      turn.results.set(encodeCallId(kind.value.callId), { block, text: textOf(kind.value.parts) });
      continue;
    }
    if (kind?.$case === "toolCall") turn.calls.add(encodeCallId(kind.value.id));
    // Instructions amid the conversation keep their place, told apart from what the user says.
    turn.blocks.push(isInstruction(role) ? instruction(part, block) : block, ...cachePoint(part.cacheMark, context));
  }
}

function isInstruction(role: Role): boolean {
  return role === Role.ROLE_SYSTEM || role === Role.ROLE_DEVELOPER;
}

function instruction({ kind }: Part, block: string): string {
  return kind?.$case === "text" ? textBlock(`<system>\n${kind.value.text}\n</system>`) : block;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join("");
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
