/** Marks of caches that the gateway sets in prompts without any. The same prompt always gets the same marks. */
import { type CacheMark, type Message, type Part, type Prompt, Role } from "../../api/index.js";
import type { WireRequest } from "../wire.js";
import { isMarked } from "./cache-marks.js";
import { isInstruction } from "./part.js";

/** What to mark. Plain data: it crosses to the thread that writes long bodies. */
export interface AutoMarks {
  readonly ttlSeconds: number;
  /** An upstream caches no shorter beginning of a prompt. */
  readonly tokensMin: number;
}

/** About so many bytes are a token. */
export const BYTES_PER_TOKEN = 4;
/** How many turns of the user are marked, from the newest: an upstream looks back for 20 blocks from each mark. */
export const MARKED_TURNS = 2;

/** How clients write marks, on whichever wire. A quote within a text is escaped, so that these bytes are a name. */
const WRITTEN: readonly string[] = ['"cache_control"', '"cachePoint"', '"prompt_cache_breakpoint"'];

/** True where the client marked anything. */
export function hasCacheMarks(request: WireRequest): boolean {
  const { source } = request;
  return source === undefined ? isMarkedPrompt(request.prompt()) : WRITTEN.some((mark) => source.body.includes(mark));
}

function isMarkedPrompt({ messages, tools }: Prompt): boolean {
  const isPartMarked = (part: Part): boolean =>
    isMarked(part) || (part.kind?.$case === "toolResult" && part.kind.value.parts.some(isPartMarked));
  return tools.some(isMarked) || messages.some(({ parts }) => parts.some(isPartMarked));
}

/** The prompt with marks at the end of its instructions, or of its tools, and of the newest turns of the user. */
export function withAutoMarks(prompt: Prompt, marks: AutoMarks): Prompt {
  // A long request in the typed form is not searched before it is read.
  if (isMarkedPrompt(prompt)) return prompt;
  const cacheMark: CacheMark = { ttlSeconds: marks.ttlSeconds };
  const bytesMin = marks.tokensMin * BYTES_PER_TOKEN;
  const toolBytes = bytesOf(prompt.tools);
  const leading = leadingCount(prompt.messages);
  const systemBytes = bytesOf(prompt.messages.slice(0, leading));
  const messages = [...prompt.messages];
  let { tools } = prompt;
  const lastTool = tools.at(-1);
  if (toolBytes + systemBytes >= bytesMin && !markLast(messages, 0, leading, cacheMark) && lastTool !== undefined)
    tools = tools.with(tools.length - 1, { ...lastTool, cacheMark });
  let left = MARKED_TURNS;
  for (let end = messages.length; end > leading && left > 0;) {
    while (end > leading && isAnswer(messages[end - 1])) end -= 1;
    let start = end;
    while (start > leading && !isAnswer(messages[start - 1])) start -= 1;
    const isLongEnough = toolBytes + bytesOf(messages.slice(0, end)) >= bytesMin;
    if (isLongEnough && end > start) markLast(messages, start, end, cacheMark);
    left -= 1;
    end = start;
  }
  return { ...prompt, tools, messages };
}

/** Marks the last part of these messages that an upstream caches up to. False where there is none. */
function markLast(messages: Message[], start: number, end: number, cacheMark: CacheMark): boolean {
  for (let at = end - 1; at >= start; at -= 1) {
    const message = messages[at];
    const place = message?.parts.findLastIndex(isCacheable) ?? -1;
    const part = message?.parts[place];
    if (message === undefined || part === undefined) continue;
    messages[at] = { ...message, parts: message.parts.with(place, { ...part, cacheMark }) };
    return true;
  }
  return false;
}

/** Thoughts and empty texts take no mark, and what only another wire knows is not sent. */
function isCacheable({ kind }: Part): boolean {
  switch (kind?.$case) {
    case "text":
    case "refusal":
      return kind.value.text.trim() !== "";
    case "image":
    case "file":
    case "toolResult":
    case "toolCall":
      return true;
    default:
      return false;
  }
}

function isAnswer(message: Message | undefined): boolean {
  return message?.role === Role.ROLE_ASSISTANT;
}

function leadingCount(messages: readonly Message[]): number {
  const first = messages.findIndex(({ role }) => !isInstruction(role));
  return first === -1 ? messages.length : first;
}

/** About how many bytes of text a value has. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 0;
  let bytes = 0;
  for (const inner of Object.values(value)) bytes += bytesOf(inner);
  return bytes;
}
