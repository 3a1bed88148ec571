/** From typed messages to a conversation as the wire wants it: turns that alternate, and every call answered. */
import { type Message, type Part, Role } from "../../api/index.js";
import { arrayText, objectText } from "../json/text.js";
import { completeTurns, type Speaker, type Turn, type TurnBlocks, turnOf } from "../turns.js";
import { encodeCallId } from "./call-id.js";
import { encodeBlock, encodeBlocks, type PromptContext, textBlock } from "./part-encode.js";

export interface Conversation {
  /** Blocks of the instructions. */
  readonly system: readonly string[];
  readonly messages: string;
}

const BLOCKS: TurnBlocks = {
  text: (text) => textBlock(text),
  noResult: (id) => `{"type":"tool_result","tool_use_id":"${id}","content":"No result came.","is_error":true}`,
};
/** The wire takes no more marks than these; later ones cover what stands before them. */
const CACHE_MARKS_MAX = 4;

/** `marksBefore` is how many cache marks the tools have taken. */
export function encodeConversation(
  messages: readonly Message[],
  marksBefore: number,
  mayPrefill: boolean,
  context: PromptContext,
): Conversation {
  const shown = withFewMarks(mayPrefill ? trimmed(messages) : messages, CACHE_MARKS_MAX - marksBefore);
  const first = shown.findIndex(({ role }) => role !== Role.ROLE_SYSTEM && role !== Role.ROLE_DEVELOPER);
  const leading = first === -1 ? shown.length : first;
  const system = shown
    .slice(0, leading)
    .flatMap((message, place) => encodeBlocks(message.parts, `messages[${place}]`, context));
  const turns: Turn[] = [];
  shown.slice(leading).forEach((message, place) => addMessage(turns, message, `messages[${leading + place}]`, context));
  return { system, messages: arrayText(completeTurns(turns, mayPrefill, BLOCKS).map(turnText)) };
}

function addMessage(turns: Turn[], message: Message, path: string, context: PromptContext): void {
  const speaker = speakerOf(message.role, turns, context);
  let turn = turns.at(-1);
  if (turn?.speaker !== speaker) {
    turn = turnOf(speaker);
    turns.push(turn);
  }
  const isInstruction = message.role === Role.ROLE_SYSTEM || message.role === Role.ROLE_DEVELOPER;
  for (const [place, part] of message.parts.entries()) {
    const block = encodeBlock(part, `${path}.content[${place}]`, context);
    if (block === undefined) continue;
    const { kind } = part;
    if (kind?.$case === "toolResult") {
      turn.results.set(encodeCallId(kind.value.callId), { block, text: textOf(kind.value.parts) });
      continue;
    }
    if (kind?.$case === "toolCall") turn.calls.add(encodeCallId(kind.value.id));
    // Instructions amid the conversation keep their place, told apart from what the user says.
    turn.blocks.push(isInstruction && speaker === "user" ? instruction(part, block) : block);
  }
}

/** Instructions may stand amid the conversation only on some models, and there only behind the user's turn. */
function speakerOf(role: Role, turns: readonly Turn[], { rules }: PromptContext): Speaker {
  if (role === Role.ROLE_ASSISTANT) return "assistant";
  if (role !== Role.ROLE_SYSTEM && role !== Role.ROLE_DEVELOPER) return "user";
  const before = turns.at(-1)?.speaker;
  return rules.systemTurns && (before === "user" || before === "system") ? "system" : "user";
}

function instruction({ kind }: Part, block: string): string {
  return kind?.$case === "text" ? textBlock(`<system>\n${kind.value.text}\n</system>`) : block;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join("");
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

/** The messages with at most so many cache marks, the last ones. */
function withFewMarks(messages: readonly Message[], marksMax: number): readonly Message[] {
  const count = messages.reduce((sum, { parts }) => sum + parts.filter(isMarked).length, 0);
  let surplus = count - Math.max(0, marksMax);
  if (surplus <= 0) return messages;
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (isMarked(part) && surplus-- > 0 ? { ...part, cacheMark: undefined } : part)),
  }));
}

function isMarked(part: Part): boolean {
  return part.cacheMark !== undefined;
}
