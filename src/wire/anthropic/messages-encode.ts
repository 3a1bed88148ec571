/** From typed messages to a conversation as the wire wants it: turns that alternate, and every call answered. */
import { type Message, type Part, Role, type ToolCall } from "../../api/index.js";
import { arrayText, objectText } from "../json/text.js";
import { encodeBlock, encodeBlocks, encodeCallId, type PromptContext, textBlock } from "./part-encode.js";

export interface Conversation {
  /** Blocks of the instructions. */
  readonly system: readonly string[];
  readonly messages: string;
}

type Speaker = "user" | "assistant" | "system";

interface Turn {
  readonly speaker: Speaker;
  readonly blocks: string[];
  /** The calls of the assistant's, and the results of the user's, by the id of the call. */
  readonly calls: Map<string, ToolCall>;
  readonly results: Map<string, { readonly block: string; readonly text: string }>;
}

const GO_ON = "Continue.";
const NO_RESULT = '"content":"No result came.","is_error":true';
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
  return { system, messages: arrayText(complete(turns, mayPrefill).map(turnText)) };
}

function addMessage(turns: Turn[], message: Message, path: string, context: PromptContext): void {
  const speaker = speakerOf(message.role, turns, context);
  let turn = turns.at(-1);
  if (turn?.speaker !== speaker) {
    turn = { speaker, blocks: [], calls: new Map(), results: new Map() };
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
    if (kind?.$case === "toolCall") turn.calls.set(encodeCallId(kind.value.id), kind.value);
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

/** Begins and ends with the user, and answers each call in the turn behind it. */
function complete(turns: readonly Turn[], mayPrefill: boolean): Turn[] {
  const whole: Turn[] = [];
  let open: ReadonlyMap<string, ToolCall> = new Map();
  for (const turn of turns) {
    const answered = turn.speaker === "user" ? answer(turn, open) : turn;
    if (turn.speaker !== "user" && open.size > 0) whole.push(answer(userTurn(), open));
    open = turn.speaker === "assistant" ? turn.calls : new Map();
    if (answered.blocks.length > 0) whole.push(answered);
  }
  if (open.size > 0) whole.push(answer(userTurn(), open));
  const isPrefill = whole.at(-1)?.speaker === "assistant";
  if (whole[0]?.speaker !== "user") whole.unshift(userTurn(textBlock(GO_ON)));
  if (isPrefill && !mayPrefill) whole.push(userTurn(textBlock(GO_ON)));
  return whole;
}

function userTurn(...blocks: string[]): Turn {
  return { speaker: "user", blocks, calls: new Map(), results: new Map() };
}

/** Results first, in the order of their calls; one that never came is an error, one of no call is told as text. */
function answer(turn: Turn, open: ReadonlyMap<string, ToolCall>): Turn {
  const blocks: string[] = [];
  for (const id of open.keys())
    blocks.push(turn.results.get(id)?.block ?? `{"type":"tool_result","tool_use_id":"${id}",${NO_RESULT}}`);
  for (const [id, { text }] of turn.results)
    if (!open.has(id)) blocks.push(textBlock(`The tool call ${id} returned: ${text}`));
  return { ...turn, blocks: [...blocks, ...turn.blocks] };
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
