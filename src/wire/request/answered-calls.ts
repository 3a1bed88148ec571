/** Conversations on wires whose calls must be answered at once: who says what stays, in an order that they take. */
import { type Message, type Part, Role, type ToolResult } from "../../api/index.js";
import { partOf, textPart } from "./part.js";
import { UniqueNames } from "./unique-names.js";

/**
 * The conversation with the results of a turn's calls right behind it, each once, in the order of the calls. Turns of
 * the assistant's that follow each other become one where the first makes calls; a result that never came is an error,
 * and one of no call is told as text. An id names one call of the whole conversation: some servers count their calls
 * anew in every answer. The very same list where nothing is to be done, as nearly always.
 */
export function withAnsweredCalls(messages: readonly Message[]): readonly Message[] {
  if (isAnswered(messages)) return messages;
  const ordered: Message[] = [];
  const ids = new UniqueNames();
  for (let place = 0; place < messages.length;) {
    const turn: Message[] = [];
    for (; messages[place]?.role === Role.ROLE_ASSISTANT; place++) turn.push(...messages.slice(place, place + 1));
    const replies: Message[] = [];
    for (; place < messages.length && messages[place]?.role !== Role.ROLE_ASSISTANT; place++)
      replies.push(...messages.slice(place, place + 1));
    const calls = new TurnCalls(ids);
    const [first] = turn;
    const parts = turn.flatMap((message) => message.parts.map((part) => calls.own(part)));
    if (calls.isEmpty) ordered.push(...turn);
    else if (first !== undefined) ordered.push({ ...first, parts });
    addReplies(ordered, replies, calls);
  }
  return ordered;
}

/** The calls of one turn, each by an id that no other call of the conversation has. */
class TurnCalls {
  constructor(private readonly ids: UniqueNames) {}

  private readonly calls: { readonly toldId: string; readonly id: string; result: Part | undefined }[] = [];

  get isEmpty(): boolean {
    return this.calls.length === 0;
  }

  /** The part; a call whose id is taken gets another. */
  own(part: Part): Part {
    if (part.kind?.$case !== "toolCall") return part;
    const { id: toldId } = part.kind.value;
    const id = this.ids.claim(toldId);
    this.calls.push({ toldId, id, result: undefined });
    return id === toldId ? part : { ...part, kind: { $case: "toolCall", value: { ...part.kind.value, id } } };
  }

  /** Takes the result of a call; false where no call waits for it. */
  answer(part: Part, result: ToolResult): boolean {
    const call = this.calls.find((open) => open.toldId === result.callId && open.result === undefined);
    if (call === undefined) return false;
    call.result = { ...part, kind: { $case: "toolResult", value: { ...result, callId: call.id } } };
    return true;
  }

  /** A result for each call, in their order. */
  results(): Part[] {
    return this.calls.map(({ id, result }) => result ?? noResult(id));
  }
}

/** The results of the calls in one message, and then whatever else was said. */
function addReplies(ordered: Message[], replies: readonly Message[], calls: TurnCalls): void {
  const others: Message[] = [];
  for (const reply of replies) {
    const kept: Part[] = [];
    for (const part of reply.parts) {
      if (part.kind?.$case !== "toolResult") kept.push(part);
      else if (!calls.answer(part, part.kind.value)) kept.push(toldAsText(part.kind.value));
    }
    if (kept.length === 0) continue;
    const isResult = reply.role === Role.ROLE_TOOL;
    others.push(
      isResult ? { ...reply, role: Role.ROLE_USER, parts: kept, extraJson: undefined } : { ...reply, parts: kept },
    );
  }
  const parts = calls.results();
  if (parts.length > 0) ordered.push({ role: Role.ROLE_TOOL, parts, name: undefined, extraJson: undefined });
  ordered.push(...others);
}

/** True where each turn's calls are answered before anything else is said, and no id names two calls. */
function isAnswered(messages: readonly Message[]): boolean {
  const open = new Set<string>();
  const told = new Set<string>();
  for (const { role, parts } of messages) {
    const isAssistant = role === Role.ROLE_ASSISTANT;
    if (isAssistant && open.size > 0) return false;
    let hasResults = false;
    for (const { kind } of parts) {
      if (kind?.$case === "toolCall") {
        if (told.has(kind.value.id)) return false;
        told.add(kind.value.id);
        open.add(kind.value.id);
      } else if (kind?.$case === "toolResult") {
        if (!open.delete(kind.value.callId)) return false;
        hasResults = true;
      }
    }
    if (!isAssistant && !hasResults && open.size > 0) return false;
  }
  return open.size === 0;
}

function noResult(callId: string): Part {
  return partOf({ $case: "toolResult", value: { callId, parts: [textPart("No result came.")], isError: true } });
}

function toldAsText({ callId, parts }: ToolResult): Part {
  const text = parts.map(({ kind }) => (kind?.$case === "text" ? kind.value.text : "")).join("");
  return textPart(`The tool call ${callId} returned: ${text}`);
}
