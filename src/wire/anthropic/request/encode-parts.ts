/** From typed parts to the blocks of a content. */
import type { CacheMark, File, Image, InlineData, Part, ToolCall, ToolResult } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { inputObject } from "../../request/call-input.js";
import type { ModelRules } from "../../claude/request/encode-rules.js";
import { anthropicsOwn } from "../../claude/answer/proof.js";
import { wrappedText } from "../../request/free-text.js";
import { encodeCacheControl } from "../../request/cache-marks.js";
import { arrayText, checkedJson, jsonOf, objectText } from "../../json/text.js";
import { encodeCallId } from "../answer/call-id.js";
import { WIRE_NAME } from "../facts.js";

/** What the writing of a prompt depends on. */
export interface PromptContext {
  readonly rules: ModelRules;
  /** The model, as refusals name it. */
  readonly model: string;
  /** True where the prompt comes from another wire: what only its upstreams understand means nothing here. */
  readonly isForeign: boolean;
  /** True where all is written as it was said, whatever a model that thinks takes beside it. Absent: false. */
  readonly isAsSaid?: boolean;
  /** True where thoughts are asked for as the prompt says it, if the model takes it or not. Absent: false. */
  readonly keepsThoughts?: boolean;
  /** True where calls of the upstream's own tools must have a bound. */
  readonly boundsTools?: boolean;
  /** Takes the name of what had no place and was left out. */
  readonly drop: (param: string) => void;
}

const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** The block of a part; undefined where the wire has none for it. */
export function encodeBlock(part: Part, path: string, context: PromptContext): string | undefined {
  const { kind } = part;
  const mark = encodeCacheMark(part.cacheMark);
  switch (kind?.$case) {
    case "text":
    case "refusal":
      // Blank text is refused.
      return kind.value.text.trim() === "" ? undefined : textBlock(kind.value.text, mark);
    case "image":
      return blockText("image", [["source", encodeImage(kind.value, path, context)], mark]);
    case "file":
      return encodeFile(kind.value, mark, path, context);
    case "audio":
      if (kind.value.source?.$case === "inline") throw unsupported(path, "it hears no sound", context);
      // Sound that another upstream holds: what was said in it stands beside it.
      return undefined;
    case "toolCall":
      return encodeCall(kind.value, mark);
    case "toolResult":
      return encodeResult(kind.value, mark, path, context);
    case "thinking":
      return encodeThinking(kind.value.text, kind.value.signature);
    case "redactedThinking":
      return encodeRedacted(kind.value.data);
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

type Members = readonly (readonly [string, string | undefined])[];

function blockText(type: string, members: Members): string {
  return objectText([["type", `"${type}"`], ...members]);
}

export function textBlock(text: string, mark: Members[number] = ["", undefined]): string {
  return blockText("text", [["text", jsonOf(text)], mark]);
}

export function encodeCacheMark(mark: CacheMark | undefined): Members[number] {
  return ["cache_control", encodeCacheControl(mark)];
}

/** Only Anthropic's own thoughts go back to Anthropic; it refuses one without its proof. */
function encodeThinking(text: string, signature: string | undefined): string | undefined {
  const proof = anthropicsOwn(signature);
  if (proof === undefined) return undefined;
  return blockText("thinking", [
    ["thinking", jsonOf(text)],
    ["signature", jsonOf(proof)],
  ]);
}

function encodeRedacted(data: string): string | undefined {
  return anthropicsOwn(data) && blockText("redacted_thinking", [["data", jsonOf(data)]]);
}

function encodeCall({ id, name, arguments: text, custom }: ToolCall, mark: Members[number]): string {
  return blockText("tool_use", [
    ["id", jsonOf(encodeCallId(id))],
    ["name", jsonOf(name)],
    ["input", custom ? wrappedText(text) : inputObject(text)],
    mark,
  ]);
}

function encodeResult(result: ToolResult, mark: Members[number], path: string, context: PromptContext): string {
  const [first] = result.parts;
  const isPlain = result.parts.length === 1 && first?.cacheMark === undefined;
  const plain = isPlain && first?.kind?.$case === "text" ? first.kind.value.text : undefined;
  const blocks = plain === undefined ? encodeBlocks(result.parts, path, context) : [];
  const content = blocks.length === 0 ? jsonOf(plain) : arrayText(blocks);
  return blockText("tool_result", [
    ["tool_use_id", jsonOf(encodeCallId(result.callId))],
    ["content", content],
    ["is_error", result.isError ? "true" : undefined],
    mark,
  ]);
}

function encodeBlocks(parts: readonly Part[], path: string, context: PromptContext): string[] {
  return parts.flatMap((part, place) => encodeBlock(part, `${path}.content[${place}]`, context) ?? []);
}

function encodeImage({ source }: Image, path: string, context: PromptContext): string {
  if (source?.$case === "inline") {
    const { mediaType } = source.value;
    if (!IMAGE_TYPES.has(mediaType))
      throw unsupported(
        path,
        `it takes pictures as JPEG, PNG, GIF and WebP, not as ${mediaType.slice(0, 64)}`,
        context,
      );
    return base64Source(source.value);
  }
  return heldSource(source?.$case ?? "url", source?.value ?? "", path, context);
}

/** Text goes as text, anything else as it is: what the wire cannot read it refuses itself. */
function encodeFile({ source, filename }: File, mark: Members[number], path: string, context: PromptContext): string {
  let from: string;
  if (source?.$case !== "inline") from = heldSource(source?.$case ?? "url", source?.value ?? "", path, context);
  else if (source.value.mediaType.startsWith("text/"))
    from = `{"type":"text","media_type":"text/plain","data":${JSON.stringify(source.value.data.toString())}}`;
  else from = base64Source(source.value);
  return blockText("document", [["source", from], ["title", jsonOf(filename)], mark]);
}

function base64Source({ mediaType, data }: InlineData): string {
  return `{"type":"base64","media_type":${JSON.stringify(mediaType)},"data":"${data.toString("base64")}"}`;
}

function heldSource(kind: "url" | "fileId", value: string, path: string, context: PromptContext): string {
  if (kind === "url") return `{"type":"url","url":${JSON.stringify(value)}}`;
  // Another upstream's file is unknown here.
  if (context.isForeign)
    throw unsupported(path, "it takes media by their bytes or address, not by a file's id", context);
  return `{"type":"file","file_id":${JSON.stringify(value)}}`;
}
