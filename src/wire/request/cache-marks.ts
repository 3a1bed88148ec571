/** Marks up to which an upstream is asked to cache a prompt. */
import type { CacheMark, Message, Part, Prompt, Tool } from "../../api/index.js";

/** What may ask that the prompt be cached up to it: parts and tools, parts alone, or nothing, as on Gemini. */
export type MarkPlaces = "anywhere" | "parts" | "nowhere";

/** The parts with a mark on the last one, unless that has its own. The very same list where there is no mark. */
export function markedLast(parts: Part[], mark: CacheMark | undefined): Part[] {
  const last = parts.at(-1);
  if (mark === undefined || last === undefined || last.cacheMark !== undefined) return parts;
  return [...parts.slice(0, -1), { ...last, cacheMark: mark }];
}

/** The same of a conversation. */
export function markedAtEnd(messages: Message[], mark: CacheMark | undefined): Message[] {
  const last = messages.at(-1);
  if (mark === undefined || last === undefined) return messages;
  return [...messages.slice(0, -1), { ...last, parts: markedLast(last.parts, mark) }];
}

/**
 * The prompt for Claude's wires, which take so many marks in all, on whole results and never within one. The last ones
 * stay: each covers what stands before it, tools first. The very same prompt where nothing is marked.
 */
export function withFittedMarks(prompt: Prompt, marksMax: number): Prompt {
  const tools = prompt.tools.filter(isMarked).length;
  const messages = prompt.messages.map(withResultMarks);
  const count = messages.reduce((sum, { parts }) => sum + parts.filter(isMarked).length, tools);
  if (count === 0) return prompt;
  let surplus = count - marksMax;
  const fit = <Marked extends Part | Tool>(one: Marked): Marked =>
    isMarked(one) && surplus-- > 0 ? { ...one, cacheMark: undefined } : one;
  return {
    ...prompt,
    tools: prompt.tools.map(fit),
    messages: messages.map((message) => withParts(message, message.parts.map(fit))),
  };
}

/** A mark within a result is one of the result. */
function withResultMarks(message: Message): Message {
  if (!message.parts.some(hasInnerMark)) return message;
  return withParts(
    message,
    message.parts.map((part) => (hasInnerMark(part) ? lifted(part) : part)),
  );
}

function withParts(message: Message, parts: Part[]): Message {
  return { ...message, parts };
}

function lifted(part: Part): Part {
  if (part.kind?.$case !== "toolResult") return part;
  const { value } = part.kind;
  const mark = part.cacheMark ?? value.parts.findLast(isMarked)?.cacheMark;
  const parts = value.parts.map((inner) => ({ ...inner, cacheMark: undefined }));
  return { kind: { $case: "toolResult", value: { ...value, parts } }, cacheMark: mark };
}

/** True where a part is a result that holds a mark. */
function hasInnerMark({ kind }: Part): boolean {
  return kind?.$case === "toolResult" && kind.value.parts.some(isMarked);
}

export function isMarked({ cacheMark }: Part | Tool): boolean {
  return cacheMark !== undefined;
}

/** True where a mark of the prompt, a client's `cache_control`, has no place on the upstream's wire. */
export function losesMarks({ messages, tools }: Prompt, places: MarkPlaces): boolean {
  if (places === "anywhere") return false;
  if (tools.some(isMarked)) return true;
  const isPartMarked = (part: Part): boolean => isMarked(part) || hasInnerMark(part);
  return places === "nowhere" && messages.some(({ parts }) => parts.some(isPartMarked));
}

/** Claude's word for a mark: the shorter of its two times that is long enough, else the longer. */
export function encodeCacheControl(mark: CacheMark | undefined): string | undefined {
  if (mark === undefined) return undefined;
  if (mark.ttlSeconds === undefined) return '{"type":"ephemeral"}';
  return `{"type":"ephemeral","ttl":"${mark.ttlSeconds <= 300 ? "5m" : "1h"}"}`;
}
