/** From the content of an item to typed parts. */
import type { Image, Part } from "../../../api/index.js";
import { type JsonNode, ObjectReader } from "../../json/node.js";
import { addressOrData } from "../../openai/request/media.js";
import { decodeAudio, decodeCacheMark, decodeFile } from "../../openai/request/decode-parts.js";
import { partOf, textPart } from "../../request/part.js";
import { WIRE_NAME } from "../facts.js";

/** A content or an output: a string, or parts; empty where there is none. */
export function decodeContent(reader: ObjectReader, key: "content" | "output"): Part[] {
  const node = reader.peek(key);
  if (node?.kind !== "array") {
    const text = reader.text(key) ?? "";
    return text === "" ? [] : [textPart(text)];
  }
  return (reader.list(key) ?? []).map((item, place) => decodePart(item, `${reader.pathOf(key)}[${place}]`));
}

function decodePart(node: JsonNode, path: string): Part {
  const reader = new ObjectReader(node, path);
  const mark = decodeCacheMark(reader);
  switch (reader.requiredText("type")) {
    case "input_text":
    case "output_text":
    case "text":
      return textPart(reader.requiredText("text"), mark, decodeAnnotations(reader));
    case "refusal":
      return partOf({ $case: "refusal", value: { text: reader.requiredText("refusal") } }, mark);
    case "input_image":
      return partOf({ $case: "image", value: decodeImage(reader) }, mark);
    case "input_audio":
      return partOf({ $case: "audio", value: decodeAudio(reader.requiredObject("input_audio")) }, mark);
    case "input_file":
      return partOf({ $case: "file", value: decodeFile(reader, "file_url") }, mark);
    default:
      return partOf({ $case: "opaque", value: { wire: WIRE_NAME, json: node.raw() } }, mark);
  }
}

function decodeAnnotations(reader: ObjectReader): string | undefined {
  const annotations = reader.list("annotations") ?? [];
  return annotations.length === 0 ? undefined : reader.raw("annotations");
}

function decodeImage(reader: ObjectReader): Image {
  const detail = reader.text("detail");
  const fileId = reader.text("file_id");
  if (fileId !== undefined) return { source: { $case: "fileId", value: fileId }, detail };
  return { source: addressOrData(reader.requiredText("image_url"), reader.pathOf("image_url")), detail };
}
