/** From the content of an item to typed parts. */
import type { Audio, CacheMark, File, Image, Part } from "../../api/index.js";
import { type JsonNode, ObjectReader } from "../json/node.js";
import { addressOrData, decodeAudioFormat, decodeTtl } from "../openai-media.js";
import { WIRE_NAME } from "./schema.js";

export function partOf(kind: NonNullable<Part["kind"]>, cacheMark?: CacheMark): Part {
  return { kind, cacheMark };
}

/** A content or an output: a string, or parts; empty where there is none. */
export function decodeContent(reader: ObjectReader, key: "content" | "output"): Part[] {
  const node = reader.peek(key);
  if (node?.kind !== "array") {
    const text = reader.text(key) ?? "";
    return text === "" ? [] : [textPart(text)];
  }
  return (reader.list(key) ?? []).map((item, place) => decodePart(item, `${reader.pathOf(key)}[${place}]`));
}

function textPart(text: string, cacheMark?: CacheMark, citationsJson?: string): Part {
  return partOf({ $case: "text", value: { text, citationsJson } }, cacheMark);
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
      return partOf({ $case: "file", value: decodeFile(reader) }, mark);
    default:
      return partOf({ $case: "opaque", value: { wire: WIRE_NAME, json: node.raw() } }, mark);
  }
}

function decodeAnnotations(reader: ObjectReader): string | undefined {
  const annotations = reader.list("annotations") ?? [];
  return annotations.length === 0 ? undefined : reader.raw("annotations");
}

function decodeCacheMark(reader: ObjectReader): CacheMark | undefined {
  const mark = reader.object("prompt_cache_breakpoint");
  return mark === undefined ? undefined : { ttlSeconds: decodeTtl(mark.text("ttl")) };
}

function decodeImage(reader: ObjectReader): Image {
  const detail = reader.text("detail");
  const fileId = reader.text("file_id");
  if (fileId !== undefined) return { source: { $case: "fileId", value: fileId }, detail };
  return { source: addressOrData(reader.requiredText("image_url"), reader.pathOf("image_url")), detail };
}

function decodeAudio(reader: ObjectReader): Audio {
  const data = Buffer.from(reader.requiredText("data"), "base64");
  const mediaType = decodeAudioFormat(reader.text("format") ?? "wav");
  return { source: { $case: "inline", value: { mediaType, data } }, transcript: undefined };
}

function decodeFile(reader: ObjectReader): File {
  const filename = reader.text("filename");
  const fileId = reader.text("file_id");
  if (fileId !== undefined) return { source: { $case: "fileId", value: fileId }, filename };
  const url = reader.text("file_url");
  if (url !== undefined) return { source: { $case: "url", value: url }, filename };
  const data = reader.requiredText("file_data");
  const source = addressOrData(data, reader.pathOf("file_data"));
  // Bare base64 is what some clients send in place of a data URL; the usual document is meant.
  if (source.$case === "url" && !/^https?:/i.test(data)) {
    const value = { mediaType: "application/pdf", data: Buffer.from(data, "base64") };
    return { source: { $case: "inline", value }, filename };
  }
  return { source, filename };
}
