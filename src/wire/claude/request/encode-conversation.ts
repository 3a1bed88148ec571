/** From typed messages to the turns of Claude's wires: they alternate, and every call is answered. */
import { type CacheMark, type Message, type Part, Role } from "../../../api/index.js";
import { instructionAsText, isInstruction } from "../../request/part.js";
import { completeTurns, type Speaker, type Turn, type TurnBlocks, turnOf } from "./encode-turns.js";

/** The most marks of the cache in one request. */
export const CACHE_MARKS_MAX = 4;

/** How a wire writes what is said. */
export interface PartWriter extends TurnBlocks {
  /** True where instructions may be turns of their own behind the user's. */
  readonly systemTurns: boolean;
  /** The block of a part; undefined where the wire has none for it. */
  block(part: Part, path: string): string | undefined;
  /** What stands behind a block whose part is marked, where the mark is no member of it. */
  behind(mark: CacheMark | undefined): readonly string[];
  callId(id: string): string;
}

export interface Conversation {
  /** Blocks of the instructions. */
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
}

export function conversationOf(messages: readonly Message[], mayPrefill: boolean, write: PartWriter): Conversation {
  const first = messages.findIndex(({ role }) => !isInstruction(role));
  const leading = first === -1 ? messages.length : first;
  const system = messages
    .slice(0, leading)
    .flatMap(({ parts }, place) => encodeBlocks(parts, `messages[${place}]`, write));
  const turns: Turn[] = [];
  messages
    .slice(leading)
    .forEach((message, place) => addMessage(turns, message, `messages[${leading + place}]`, write));
  return { system, turns: completeTurns(turns, mayPrefill, write) };
}

/** The blocks of parts, each with its mark. */
function encodeBlocks(parts: readonly Part[], path: string, write: PartWriter): string[] {
  return parts.flatMap((part, place) => {
    const block = write.block(part, `${path}.content[${place}]`);
    return block === undefined ? [] : [block, ...write.behind(part.cacheMark)];
  });
}

function addMessage(turns: Turn[], { role, parts }: Message, path: string, write: PartWriter): void {
  const speaker = speakerOf(role, turns, write);
  let turn = turns.at(-1);
  if (turn?.speaker !== speaker) {
    turn = turnOf(speaker);
    turns.push(turn);
  }
  for (const [place, part] of parts.entries()) {
    const block = write.block(part, `${path}.content[${place}]`);
    if (block === undefined) continue;
    const { kind } = part;
    if (kind?.$case === "toolResult") {
      const blocks = [block, ...write.behind(part.cacheMark)];
      turn.results.set(write.callId(kind.value.callId), { blocks, text: textOf(kind.value.parts) });
      continue;
    }
    if (kind?.$case === "toolCall") turn.calls.add(write.callId(kind.value.id));
    // Instructions amid the conversation keep their place, told apart from what the user says.
    const isTold = isInstruction(role) && speaker === "user" && kind?.$case === "text";
    const said = isTold ? write.text(instructionAsText(kind.value.text)) : block;
    turn.blocks.push(said, ...write.behind(part.cacheMark));
  }
}

/** Instructions may stand amid the conversation only on some models, and there only behind the user's turn. */
function speakerOf(role: Role, turns: readonly Turn[], { systemTurns }: PartWriter): Speaker {
  if (role === Role.ROLE_ASSISTANT) return "assistant";
  if (!isInstruction(role)) return "user";
  const before = turns.at(-1)?.speaker;
  return systemTurns && (before === "user" || before === "system") ? "system" : "user";
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join("");
}
