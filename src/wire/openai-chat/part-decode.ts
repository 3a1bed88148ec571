/** From the content of a message to typed parts. */
import type { Audio, CacheMark, File, Image, Part } from "../../api/index.js";
import { type JsonNode, ObjectReader } from "../json/node.js";
import { addressOrData, decodeAudioFormat, decodeTtl } from "../openai-media.js";
import { WIRE_NAME } from "./schema.js";

export function partOf(kind: NonNullable<Part["kind"]>, cacheMark?: CacheMark): Part {
  return { kind, cacheMark };
}

/** The content of a message: a string, or parts; empty where there is none. */
export function decodeContent(reader: ObjectReader): Part[] {
  const node = reader.peek("content");
  if (node?.kind !== "array") {
    const text = reader.text("content") ?? "";
    return text === "" ? [] : [textPart(text)];
  }
  return (reader.list("content") ?? []).map((item, place) => decodePart(item, `${reader.pathOf("content")}[${place}]`));
}

function textPart(text: string, cacheMark?: CacheMark): Part {
  return partOf({ $case: "text", value: { text, citationsJson: undefined } }, cacheMark);
}

function decodePart(node: JsonNode, path: string): Part {
  const reader = new ObjectReader(node, path);
  const mark = decodeCacheMark(reader);
  switch (reader.requiredText("type")) {
    case "text":
      return textPart(reader.requiredText("text"), mark);
    case "refusal":
      return partOf({ $case: "refusal", value: { text: reader.requiredText("refusal") } }, mark);
    case "image_url":
      return partOf({ $case: "image", value: decodeImage(reader) }, mark);
    case "input_audio":
      return partOf({ $case: "audio", value: decodeAudio(reader.requiredObject("input_audio")) }, mark);
    case "file":
      return partOf({ $case: "file", value: decodeFile(reader.requiredObject("file")) }, mark);
    case "thinking":
      return partOf({ $case: "thinking", value: { text: thoughtOf(reader), signature: reader.text("signature") } });
    default:
      return partOf({ $case: "opaque", value: { wire: WIRE_NAME, json: node.raw() } });
  }
}

/** Mistral's thinking: a list of text parts, or plain text. */
function thoughtOf(reader: ObjectReader): string {
  const node = reader.peek("thinking");
  if (node?.kind === "string") return node.text;
  return (node?.items ?? []).map((item) => item.members.get("text")?.text ?? "").join("");
}

function decodeCacheMark(reader: ObjectReader): CacheMark | undefined {
  const mark = reader.object("prompt_cache_breakpoint");
  return mark === undefined ? undefined : { ttlSeconds: decodeTtl(mark.text("ttl")) };
}

function decodeImage(reader: ObjectReader): Image {
  const node = reader.peek("image_url");
  if (node?.kind === "string")
    return { source: addressOrData(node.text, reader.pathOf("image_url")), detail: undefined };
  const image = reader.requiredObject("image_url");
  return { source: addressOrData(image.requiredText("url"), image.pathOf("url")), detail: image.text("detail") };
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
  const data = reader.requiredText("file_data");
  const source = addressOrData(data, reader.pathOf("file_data"));
  // Bare base64 is what some clients send in place of a data URL; the usual document is meant.
  if (source.$case === "url" && !/^https?:/i.test(data)) {
    const value = { mediaType: "application/pdf", data: Buffer.from(data, "base64") };
    return { source: { $case: "inline", value }, filename };
  }
  return { source, filename };
}
