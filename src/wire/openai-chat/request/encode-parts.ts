/** From typed parts to the content of a message. */
import type { Audio, CacheMark, File, Image, Part } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { encodeCacheControl } from "../../request/cache-marks.js";
import { arrayText, checkedJson, jsonOf, objectText } from "../../json/text.js";
import type { OpenAiChatDialect } from "../facts-dialect.js";
import { encodeCacheMark } from "../../openai/request/encode-fields.js";
import { dataUrl, encodeAudioFormat } from "../../openai/request/media.js";
import { WIRE_NAME } from "../facts.js";

/** What the writing of parts depends on. */
export interface PartContext {
  readonly dialect: OpenAiChatDialect;
  /** The model, as refusals name it. */
  readonly model: string;
  /** Takes the name of what had no place and was left out. */
  readonly drop: (param: string) => void;
}

/** True for parts that stand in a message's content; the others have members of their own, or no place here. */
export function isContent({ kind }: Part): boolean {
  switch (kind?.$case) {
    case "text":
    case "image":
    case "file":
    case "refusal":
      return true;
    case "audio":
      return kind.value.source?.$case === "inline";
    case "opaque":
      return kind.value.wire === WIRE_NAME;
    default:
      return false;
  }
}

/** The content as JSON: a string where it is one plain text, which every server takes; else parts. */
export function encodeContent(parts: readonly Part[], path: string, context: PartContext): string {
  const [first] = parts;
  if (first === undefined) return '""';
  const isMarked = context.dialect.cacheMark !== "" && first.cacheMark !== undefined;
  if (parts.length === 1 && first.kind?.$case === "text" && !isMarked) return JSON.stringify(first.kind.value.text);
  return arrayText(parts.map((part, place) => encodePart(part, `${path}.content[${place}]`, context)));
}

function encodePart(part: Part, path: string, context: PartContext): string {
  const { kind } = part;
  const mark = [context.dialect.cacheMark, markText(part.cacheMark, context.dialect)] as const;
  switch (kind?.$case) {
    case "text":
      return partText("text", ["text", jsonOf(kind.value.text)], mark);
    case "refusal":
      return partText("refusal", ["refusal", jsonOf(kind.value.text)], mark);
    case "image":
      return partText("image_url", ["image_url", encodeImage(kind.value, path, context)], mark);
    case "audio":
      return partText("input_audio", ["input_audio", encodeAudio(kind.value)], mark);
    case "file":
      if (context.dialect.documentUrls && kind.value.source?.$case !== "fileId") return encodeDocument(kind.value);
      return partText("file", ["file", encodeFile(kind.value, path, context)], mark);
    case "opaque":
      return checkedJson(kind.value.json, path) ?? "{}";
    default:
      return '{"type":"text","text":""}';
  }
}

type Member = readonly [string, string | undefined];

function partText(type: string, body: Member, mark: Member): string {
  return objectText([["type", `"${type}"`], body, mark]);
}

function markText(mark: CacheMark | undefined, { cacheMark }: OpenAiChatDialect): string | undefined {
  if (cacheMark === "") return undefined;
  return cacheMark === "cache_control" ? encodeCacheControl(mark) : encodeCacheMark(mark);
}

function encodeImage({ source, detail }: Image, path: string, context: PartContext): string {
  if (source?.$case === "fileId") throw unsupported(path, "a picture is given by its address or its bytes", context);
  const url = source?.$case === "inline" ? dataUrl(source.value.mediaType, source.value.data) : source?.value;
  return objectText([
    ["url", jsonOf(url ?? "")],
    ["detail", jsonOf(detail)],
  ]);
}

function encodeAudio({ source }: Audio): string {
  if (source?.$case !== "inline") return "{}";
  const { mediaType, data } = source.value;
  return JSON.stringify({ data: data.toString("base64"), format: encodeAudioFormat(mediaType) });
}

/** A document by its address, or by its bytes as one. */
function encodeDocument({ source, filename }: File): string {
  const url = source?.$case === "inline" ? dataUrl(source.value.mediaType, source.value.data) : source?.value;
  return objectText([
    ["type", '"document_url"'],
    ["document_url", jsonOf(url ?? "")],
    ["document_name", jsonOf(filename)],
  ]);
}

function encodeFile({ source, filename }: File, path: string, context: PartContext): string {
  if (source?.$case === "url") throw unsupported(path, "a file is given by its id or its bytes", context);
  const name = ["filename", jsonOf(filename)] as const;
  if (source?.$case === "fileId") return objectText([["file_id", jsonOf(source.value)], name]);
  const data = source === undefined ? "" : dataUrl(source.value.mediaType, source.value.data);
  return objectText([["file_data", jsonOf(data)], name]);
}
