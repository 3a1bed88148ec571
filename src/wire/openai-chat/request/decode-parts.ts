/** From the content of a message to typed parts. */
import type { File, Image, Part } from "../../../api/index.js";
import { type JsonNode, ObjectReader } from "../../json/node.js";
import { addressOrData } from "../../openai/request/media.js";
import { decodeAudio, decodeCacheMark, decodeFile } from "../../openai/request/decode-parts.js";
import { partOf, textPart, opaquePart } from "../../request/part.js";
import { WIRE_NAME } from "../facts.js";

/** The content of a message: a string, or parts; empty where there is none. */
export function decodeContent(reader: ObjectReader): Part[] {
  const node = reader.peek("content");
  if (node?.kind !== "array") {
    const text = reader.text("content") ?? "";
    return text === "" ? [] : [textPart(text)];
  }
  return (reader.list("content") ?? []).map((item, place) => decodePart(item, `${reader.pathOf("content")}[${place}]`));
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
    case "document_url":
      return partOf({ $case: "file", value: decodeDocument(reader) }, mark);
    case "thinking":
      return partOf({ $case: "thinking", value: { text: thoughtOf(reader), signature: reader.text("signature") } });
    default:
      return opaquePart(WIRE_NAME, node.raw());
  }
}

/** Mistral's thinking: a list of text parts, or plain text. */
function thoughtOf(reader: ObjectReader): string {
  const node = reader.peek("thinking");
  if (node?.kind === "string") return node.text;
  return (node?.items ?? []).map((item) => item.members.get("text")?.text ?? "").join("");
}

/** Mistral's document: an address, as a text or in an object, or its bytes as a data URL. */
function decodeDocument(reader: ObjectReader): File {
  const filename = reader.text("document_name");
  const isText = reader.peek("document_url")?.kind === "string";
  const holder = isText ? reader : reader.requiredObject("document_url");
  const key = isText ? "document_url" : "url";
  return { source: addressOrData(holder.requiredText(key), holder.pathOf(key)), filename };
}

function decodeImage(reader: ObjectReader): Image {
  const node = reader.peek("image_url");
  if (node?.kind === "string")
    return { source: addressOrData(node.text, reader.pathOf("image_url")), detail: undefined };
  const image = reader.requiredObject("image_url");
  return { source: addressOrData(image.requiredText("url"), image.pathOf("url")), detail: image.text("detail") };
}
