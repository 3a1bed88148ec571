/** From typed parts to the blocks of a content. */
import { createHash } from "node:crypto";
import type { CacheMark, File, Image, Part, ToolCall, ToolResult } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { inputObject } from "../../request/call-input.js";
import type { ModelRules } from "../../claude/request/encode-rules.js";
import { anthropicsOwn } from "../../claude/answer/proof.js";
import { wrappedText } from "../../request/free-text.js";
import type { UniqueNames, UniqueNameRule } from "../../request/unique-names.js";
import { arrayText, checkedJson, jsonOf, objectText } from "../../json/text.js";
import { WIRE_NAME } from "../facts.js";

/** What the writing of a prompt depends on. */
export interface PromptContext {
  readonly rules: ModelRules;
  /** True where the model's prompts are cached up to marks; others refuse a prompt that has one. */
  readonly cacheMarks: boolean;
  /** True where it is known how the model picks its words. */
  readonly takesTopK: boolean;
  /** The model, as refusals name it. */
  readonly model: string;
  /** The names of the request's documents. */
  readonly filenames: UniqueNames;
  /** Takes the name of what had no place and was left out. */
  readonly drop: (param: string) => void;
}

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
]);
const FILE_FORMATS: ReadonlyMap<string, string> = new Map([
  ["application/pdf", "pdf"],
  ["text/csv", "csv"],
  ["application/msword", "doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["text/html", "html"],
  ["text/markdown", "md"],
]);
const FILENAME_CHARACTERS_MAX = 200;
/** No two documents of a request may have one name, in whatever turns they stand. */
export const FILENAMES: UniqueNameRule = {
  separator: "-",
  charactersMax: FILENAME_CHARACTERS_MAX,
  ignoresCase: true,
};
const LEGAL_ID = /^[A-Za-z0-9_-]{1,64}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** The block of a part; undefined where the wire has none for it. */
export function encodeBlock({ kind }: Part, path: string, context: PromptContext): string | undefined {
  switch (kind?.$case) {
    case "text":
    case "refusal":
      // Blank text is refused.
      return kind.value.text.trim() === "" ? undefined : textBlock(kind.value.text);
    case "image":
      return `{"image":${encodeImage(kind.value, path, context)}}`;
    case "file":
      return `{"document":${encodeFile(kind.value, path, context)}}`;
    case "audio":
      if (kind.value.source?.$case === "inline") throw unsupported(path, "it hears no sound", context);
      // Sound that another upstream holds: what was said in it stands beside it.
      return undefined;
    case "toolCall":
      return encodeCall(kind.value);
    case "toolResult":
      return encodeResult(kind.value, path, context);
    case "thinking":
      return encodeThinking(kind.value.text, kind.value.signature);
    case "redactedThinking":
      // What is no base64 is no thought of an upstream of this wire.
      return BASE64.test(kind.value.data) ? `{"reasoningContent":{"redactedContent":"${kind.value.data}"}}` : undefined;
    case "opaque":
      if (kind.value.wire === WIRE_NAME) return checkedJson(kind.value.json, path);
      context.drop(path);
      return undefined;
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}

export function textBlock(text: string): string {
  return `{"text":${JSON.stringify(text)}}`;
}

/** The shorter of the wire's two times that is long enough, else the longer. */
export function cachePoint(mark: CacheMark | undefined, { cacheMarks }: PromptContext): string[] {
  if (mark === undefined || !cacheMarks) return [];
  if (mark.ttlSeconds === undefined) return ['{"cachePoint":{"type":"default"}}'];
  return [`{"cachePoint":{"type":"default","ttl":"${mark.ttlSeconds <= 300 ? "5m" : "1h"}"}}`];
}

/** Thoughts go back with their proof alone: without one they are refused. */
function encodeThinking(text: string, signature: string | undefined): string | undefined {
  const proof = anthropicsOwn(signature);
  if (proof === undefined) return undefined;
  return `{"reasoningContent":{"reasoningText":{"text":${JSON.stringify(text)},"signature":"${proof}"}}}`;
}

function encodeCall({ id, name, arguments: text, custom }: ToolCall): string {
  const call = objectText([
    ["toolUseId", jsonOf(encodeCallId(id))],
    ["name", jsonOf(name)],
    ["input", custom ? wrappedText(text) : inputObject(text)],
  ]);
  return `{"toolUse":${call}}`;
}

/** Ids that the wire refuses become others, always the same, so that a call and its result still belong together. */
export function encodeCallId(id: string): string {
  return LEGAL_ID.test(id) ? id : `tooluse_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

function encodeResult({ callId, parts, isError }: ToolResult, path: string, context: PromptContext): string {
  const blocks = parts.flatMap((part, place) => encodeBlock(part, `${path}.content[${place}]`, context) ?? []);
  return resultBlock(encodeCallId(callId), blocks, isError);
}

/** A result must hold something. */
export function resultBlock(callId: string, blocks: readonly string[], isError: boolean): string {
  const result = objectText([
    ["toolUseId", jsonOf(callId)],
    ["content", arrayText(blocks.length === 0 ? [textBlock("(empty)")] : blocks)],
    ["status", isError ? '"error"' : undefined],
  ]);
  return `{"toolResult":${result}}`;
}

function encodeImage({ source }: Image, path: string, context: PromptContext): string {
  if (source?.$case !== "inline") throw unsupported(path, "it takes pictures by their bytes alone", context);
  const { mediaType, data } = source.value;
  const format = IMAGE_FORMATS.get(mediaType);
  if (format === undefined) {
    const problem = `it takes pictures as JPEG, PNG, GIF and WebP, not as ${mediaType.slice(0, 64)}`;
    throw unsupported(path, problem, context);
  }
  return `{"format":"${format}","source":${bytesText(data)}}`;
}

function encodeFile({ source, filename }: File, path: string, context: PromptContext): string {
  if (source?.$case !== "inline") throw unsupported(path, "it takes files by their bytes alone", context);
  const { mediaType } = source.value;
  const format = FILE_FORMATS.get(mediaType) ?? (mediaType.startsWith("text/") ? "txt" : undefined);
  if (format === undefined) throw unsupported(path, `it takes no files of ${mediaType.slice(0, 64)}`, context);
  return objectText([
    ["format", `"${format}"`],
    ["name", jsonOf(context.filenames.claim(encodeFilename(filename)))],
    ["source", bytesText(source.value.data)],
  ]);
}

/** A file must have a name, and only some characters may stand in it: neither the dot nor two spaces in a row. */
function encodeFilename(filename = ""): string {
  const legal = filename.replaceAll(/[^A-Za-z0-9\s()[\]-]/g, "-").replaceAll(/\s+/g, " ");
  return legal.trim().slice(0, FILENAME_CHARACTERS_MAX) || "document";
}

function bytesText(data: Buffer): string {
  return `{"bytes":"${data.toString("base64")}"}`;
}
