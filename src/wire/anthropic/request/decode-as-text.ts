/** Blocks that only the wire itself has, told as text, so that what they say reaches other upstreams too. */
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { readableText } from "../../request/readable-text.js";

/** Members of a result that a person would read. */
const READABLE = ["title", "url", "source", "text", "stdout", "stderr", "error_code"];

/** The text of a block of this type, given as JSON; undefined where it has none to tell. */
export function toldAsText(type: string, json: string): string | undefined {
  const block = objectOf(parsed(json)) ?? {};
  if (type === "search_result") return readableText(block, READABLE);
  if (type === "server_tool_use")
    return `[The tool ${textOf(block["name"])} was used: ${JSON.stringify(block["input"] ?? {})}]`;
  if (type.endsWith("_tool_result")) return `[It returned: ${readableText(block, READABLE)}]`;
  return undefined;
}

/** The text of a document that is made of blocks; undefined where it holds more than text. */
export function textOfBlocks(json: string): string | undefined {
  const content = parsed(json);
  if (typeof content === "string") return content;
  const blocks = listOf(content).map(objectOf);
  const isText = Array.isArray(content) && blocks.every((block) => block?.["type"] === "text");
  return isText ? blocks.map((block) => textOf(block?.["text"])).join("\n") : undefined;
}
