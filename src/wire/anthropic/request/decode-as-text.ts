/** Blocks that only the wire itself has, told as text, so that what they say reaches other upstreams too. */
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../json/value.js";

const CHARACTERS_MAX = 20_000;
const DEPTH_MAX = 8;
/** Members of a result that a person would read. */
const READABLE = ["title", "url", "source", "text", "stdout", "stderr", "error_code"];

/** The text of a block of this type, given as JSON; undefined where it has none to tell. */
export function toldAsText(type: string, json: string): string | undefined {
  const block = objectOf(parsed(json)) ?? {};
  if (type === "search_result") return lines(block);
  if (type === "server_tool_use")
    return `[The tool ${textOf(block["name"])} was used: ${JSON.stringify(block["input"] ?? {})}]`;
  if (type.endsWith("_tool_result")) return `[It returned: ${lines(block)}]`;
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

function lines(block: JsonObject): string {
  const texts: string[] = [];
  collect(block, texts, 0);
  return texts.join("\n").slice(0, CHARACTERS_MAX);
}

function collect(value: unknown, texts: string[], depth: number): void {
  if (depth === DEPTH_MAX) return;
  for (const item of listOf(value)) collect(item, texts, depth + 1);
  const object = objectOf(value);
  if (object === undefined) return;
  for (const key of READABLE) if (typeof object[key] === "string") texts.push(object[key]);
  collect(object["content"], texts, depth + 1);
}
