/** Blocks that only the wire itself has, told as text, so that what they say reaches other upstreams too. */
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { READABLE_CHARACTERS_MAX, readableText } from "../../request/readable-text.js";

/** Members of a result that a person would read. */
const READABLE = ["title", "url", "source", "text", "stdout", "stderr", "error_code"];

/** The text of a block of this type, given as JSON; undefined where it has none to tell. */
export function toldAsText(type: string, json: string): string | undefined {
  const block = objectOf(parsed(json)) ?? {};
  if (type === "search_result") return readableText(block, READABLE);
  if (type === "server_tool_use")
    return `[The tool ${textOf(block["name"])} was used: ${JSON.stringify(block["input"] ?? {})}]`;
  const found = type === "tool_reference" ? [block] : listOf(objectOf(block["content"])?.["tool_references"]);
  if (found.length > 0) return foundText(found);
  if (type.endsWith("_tool_result")) return `[It returned: ${readableText(block, READABLE)}]`;
  return undefined;
}

/** What a search for tools found. They are offered already: all tools are, where the upstream has no such search. */
function foundText(references: readonly unknown[]): string {
  const names = references.map((reference) => textOf(objectOf(reference)?.["tool_name"]));
  return `[Found these tools, which can be called now: ${names.join(", ").slice(0, READABLE_CHARACTERS_MAX)}]`;
}

/** The text of a document that is made of blocks; undefined where it holds more than text. */
export function textOfBlocks(json: string): string | undefined {
  const content = parsed(json);
  if (typeof content === "string") return content;
  const blocks = listOf(content).map(objectOf);
  const isText = Array.isArray(content) && blocks.every((block) => block?.["type"] === "text");
  return isText ? blocks.map((block) => textOf(block?.["text"])).join("\n") : undefined;
}
