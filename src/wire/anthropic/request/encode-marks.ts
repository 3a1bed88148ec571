/** Marks of caches in a client's own body that has none: every byte beside them stays as it came. */
import { encodeCacheControl } from "../../request/cache-marks.js";
import { type AutoMarks, BYTES_PER_TOKEN, MARKED_TURNS } from "../../request/auto-marks.js";
import { JsonCursor } from "../../json/cursor.js";
import { type JsonNode, readTree } from "../../json/node.js";
import { type Member, readMembers, splice } from "../../json/splice.js";
import { arrayText } from "../../json/text.js";
import { isAccounting } from "./decode-prompt.js";

/** Blocks that take a mark. */
const CACHEABLE: ReadonlySet<string> = new Set(["text", "image", "document", "tool_use", "tool_result"]);

type EditedMembers = Map<string, Buffer | string | undefined>;

/** Adds the marks to the edits of a body. */
export function editMarks(body: Buffer, members: readonly Member[], marks: AutoMarks, edits: EditedMembers): void {
  const mark = encodeCacheControl(marks) ?? "";
  const bytesMin = marks.tokensMin * BYTES_PER_TOKEN;
  const valueOf = (key: string): Buffer | undefined => {
    const member = members.find((one) => one.key === key);
    if (member === undefined || (edits.has(key) && edits.get(key) === undefined)) return undefined;
    return Buffer.from(edits.get(key) ?? body.subarray(member.valueStart, member.end));
  };
  const [tools, system, messages] = [valueOf("tools"), valueOf("system"), valueOf("messages")];
  const ahead = (tools?.length ?? 0) + (system?.length ?? 0);
  if (ahead >= bytesMin) {
    const instructions = system && markedContent(readTree(system), mark);
    if (instructions !== undefined) edits.set("system", instructions);
    else if (tools !== undefined) edits.set("tools", markedTools(readTree(tools), mark) ?? tools);
  }
  const turns = messages && markedTurns(readTree(messages).items, ahead, bytesMin, mark);
  if (turns !== undefined) edits.set("messages", turns);
}

/** A tool that is only offered once it is searched for takes no mark. */
function markedTools(list: JsonNode, mark: string): string | undefined {
  const place = list.items.findLastIndex(({ members }) => members.get("defer_loading")?.raw() !== "true");
  return place === -1 ? undefined : withItem(list, place, mark);
}

/** A content with a mark on its last block that takes one; undefined where none does. */
function markedContent(content: JsonNode, mark: string): string | undefined {
  // A string is one block of text.
  if (content.kind === "string")
    return isBlank(content.text) ? undefined : `[{"type":"text","text":${content.raw()},"cache_control":${mark}}]`;
  const place = content.items.findLastIndex(isCacheable);
  return place === -1 ? undefined : withItem(content, place, mark);
}

function withItem(list: JsonNode, place: number, mark: string): string {
  return arrayText(list.items.map((item, at) => (at === place ? edited(item, "cache_control", mark) : item.raw())));
}

function isCacheable({ members }: JsonNode): boolean {
  const type = members.get("type")?.text ?? "";
  const text = members.get("text")?.text ?? "";
  return CACHEABLE.has(type) && (type !== "text" || !isBlank(text));
}

/** What a coding agent writes of itself differs from call to call, so that nothing is read from behind it. */
function isBlank(text: string): boolean {
  return text.trim() === "" || isAccounting(text);
}

/** The messages with marks at the end of the newest turns of the user; undefined where nothing is marked. */
function markedTurns(
  messages: readonly JsonNode[],
  aheadBytes: number,
  bytesMin: number,
  mark: string,
): string | undefined {
  const texts = messages.map((message) => message.raw());
  const isAnswer = (at: number): boolean => messages[at]?.members.get("role")?.text === "assistant";
  const bytesTo = (end: number): number => texts.slice(0, end).reduce((sum, { length }) => sum + length, aheadBytes);
  let left = MARKED_TURNS;
  let isMarked = false;
  for (let at = messages.length - 1; at >= 0 && left > 0; at -= 1) {
    const isEnd = !isAnswer(at) && (at === messages.length - 1 || isAnswer(at + 1));
    if (!isEnd) continue;
    left -= 1;
    const content = messages[at]?.members.get("content");
    const marked = content === undefined || bytesTo(at + 1) < bytesMin ? undefined : markedContent(content, mark);
    if (marked === undefined) continue;
    texts[at] = edited(messages[at], "content", marked);
    isMarked = true;
  }
  return isMarked ? arrayText(texts) : undefined;
}

/** The object with another value of a member. */
function edited(object: JsonNode | undefined, key: string, value: string): string {
  const bytes = Buffer.from(object?.raw() ?? "{}");
  return splice(bytes, 0, readMembers(new JsonCursor(bytes)), new Map([[key, value]])).toString();
}
