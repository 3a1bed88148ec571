/** Tools and the form of an answer as OpenAI's wires say them, from wherever the wire has what each says of itself. */
import { type OutputFormat, type Tool, type ToolChoice, ToolChoice_Mode } from "../../../api/index.js";
import { type JsonNode, type ObjectReader, wrongValue } from "../../json/node.js";
import { decodeCacheMark } from "./decode-parts.js";

const MODES: ReadonlyMap<string, ToolChoice_Mode> = new Map([
  ["auto", ToolChoice_Mode.MODE_AUTO],
  ["none", ToolChoice_Mode.MODE_NONE],
  ["required", ToolChoice_Mode.MODE_REQUIRED],
]);

/** A choice that is one word. `others` are words that some clients use beside OpenAI's. */
export function choiceOfWord(reader: ObjectReader, key: string, others = NO_WORDS): ToolChoice {
  const word = reader.requiredText(key);
  const mode = MODES.get(word) ?? others.get(word);
  if (mode === undefined) throw wrongValue(key, "it must be none, auto, required or an object");
  return { mode, names: [], custom: false };
}

const NO_WORDS: ReadonlyMap<string, ToolChoice_Mode> = new Map();

/** What only the wire itself understands. */
export function opaqueTool(wire: string, node: JsonNode): Tool {
  return { kind: { $case: "opaque", value: { wire, json: node.raw() } }, cacheMark: undefined };
}

/** `holder` is what holds the function, where that is an object of its own: either may bear a mark of the cache. */
export function functionTool(
  reader: ObjectReader,
  name: string,
  strict: boolean | undefined,
  holder: ObjectReader = reader,
): Tool {
  const value = { name, description: reader.text("description"), parametersJson: reader.raw("parameters"), strict };
  return { kind: { $case: "function", value }, cacheMark: decodeCacheMark(holder) ?? decodeCacheMark(reader) };
}

/** A tool that takes free text. */
export function customTool(reader: ObjectReader, name: string, holder: ObjectReader = reader): Tool {
  const value = { name, description: reader.text("description"), formatJson: reader.raw("format") };
  return { kind: { $case: "custom", value }, cacheMark: decodeCacheMark(holder) ?? decodeCacheMark(reader) };
}

export const TEXT_FORMAT: OutputFormat = { kind: { $case: "text", value: {} } };
export const OBJECT_FORMAT: OutputFormat = { kind: { $case: "jsonObject", value: {} } };

export function schemaFormat(reader: ObjectReader): OutputFormat {
  const value = {
    name: reader.requiredText("name"),
    description: reader.text("description"),
    schemaJson: reader.raw("schema"),
    strict: reader.flag("strict"),
  };
  return { kind: { $case: "jsonSchema", value } };
}
