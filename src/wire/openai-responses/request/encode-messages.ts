/** From typed messages to the items of a body. */
import { type Audio, type File, type Image, type Message, type Part, Role } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { arrayText, checkedJson, jsonOf, objectText } from "../../json/text.js";
import { encodeCacheMark } from "../../openai/request/encode-fields.js";
import { dataUrl, encodeAudioFormat } from "../../openai/request/media.js";
import { textPart } from "../../request/part.js";
import { WIRE_NAME } from "../facts.js";
import { openAisOwn } from "../answer/proof.js";

/** What the writing of items depends on. */
export interface ItemContext {
  /** The model, as refusals name it. */
  readonly model: string;
  /** True where the prompt comes from another wire: ids of files mean nothing here. */
  readonly isForeign: boolean;
}

const ROLES: ReadonlyMap<Role, string> = new Map([
  [Role.ROLE_SYSTEM, "system"],
  [Role.ROLE_DEVELOPER, "developer"],
  [Role.ROLE_ASSISTANT, "assistant"],
]);

/** The items as JSON texts. One message may need several: calls, results and thoughts are items of their own. */
export function encodeItems(messages: readonly Message[], context: ItemContext): string[] {
  const items: string[] = [];
  messages.forEach(({ role, parts }, place) => {
    const path = `messages[${place}]`;
    let content: string[] = [];
    const say = (): void => {
      if (content.length > 0) items.push(messageItem(ROLES.get(role) ?? "user", content));
      content = [];
    };
    parts.forEach((part, at) => {
      const partPath = `${path}.content[${at}]`;
      const item = encodeItem(part, partPath, context);
      if (item !== undefined) {
        say();
        if (item !== "") items.push(item);
      } else content.push(...encodeContent(part, role, partPath, context));
    });
    say();
    if (parts.length === 0) items.push(messageItem(ROLES.get(role) ?? "user", []));
  });
  return items;
}

function messageItem(role: string, content: readonly string[]): string {
  return `{"type":"message","role":"${role}","content":${arrayText(content)}}`;
}

/** The item of a part that is one; empty where it has no place here, undefined where it belongs to a message. */
function encodeItem({ kind }: Part, path: string, context: ItemContext): string | undefined {
  switch (kind?.$case) {
    case "toolCall": {
      const { id, name, arguments: text, custom } = kind.value;
      return objectText([
        ["type", custom ? '"custom_tool_call"' : '"function_call"'],
        ["call_id", jsonOf(id)],
        ["name", jsonOf(name)],
        [custom ? "input" : "arguments", jsonOf(text)],
      ]);
    }
    case "toolResult": {
      const { callId, parts, isError } = kind.value;
      const shown = isError ? [textPart("Error: "), ...parts] : parts;
      return objectText([
        ["type", '"function_call_output"'],
        ["call_id", jsonOf(callId)],
        ["output", encodeOutput(shown, path, context)],
      ]);
    }
    case "thinking": {
      const { text, signature } = kind.value;
      // Only OpenAI's own thoughts go back to OpenAI.
      const own = openAisOwn(signature);
      if (own === undefined) return "";
      return objectText([
        ["type", '"reasoning"'],
        ["id", own.id === "" ? undefined : jsonOf(own.id)],
        ["summary", text === "" ? "[]" : `[{"type":"summary_text","text":${jsonOf(text)}}]`],
        ["encrypted_content", jsonOf(own.content)],
      ]);
    }
    case "opaque":
      return kind.value.wire === WIRE_NAME ? opaqueItem(kind.value.json, path) : "";
    case "redactedThinking":
      return "";
    default:
      return undefined;
  }
}

/** A piece of this wire: an item, or a part that stands in a message. */
function opaqueItem(json: string, path: string): string | undefined {
  const checked = checkedJson(json, path) ?? "{}";
  return /^\s*\{\s*"type"\s*:\s*"(input|output)_/.test(checked) ? undefined : checked;
}

function encodeOutput(parts: readonly Part[], path: string, context: ItemContext): string {
  const [first] = parts;
  if (first === undefined) return '""';
  if (parts.length === 1 && first.kind?.$case === "text" && first.cacheMark === undefined)
    return JSON.stringify(first.kind.value.text);
  return arrayText(parts.flatMap((part, at) => encodeContent(part, Role.ROLE_TOOL, `${path}[${at}]`, context)));
}

/** The part of a message's content; none where the wire has no place for it. */
function encodeContent({ kind, cacheMark }: Part, role: Role, path: string, context: ItemContext): string[] {
  const mark = ["prompt_cache_breakpoint", encodeCacheMark(cacheMark)] as const;
  const isAnswer = role === Role.ROLE_ASSISTANT;
  switch (kind?.$case) {
    case "text":
      return [
        objectText([["type", isAnswer ? '"output_text"' : '"input_text"'], ["text", jsonOf(kind.value.text)], mark]),
      ];
    case "refusal":
      return [
        isAnswer
          ? objectText([["type", '"refusal"'], ["refusal", jsonOf(kind.value.text)], mark])
          : objectText([["type", '"input_text"'], ["text", jsonOf(kind.value.text)], mark]),
      ];
    case "image":
      return isAnswer ? [] : [encodeImage(kind.value, mark, path, context)];
    case "file":
      return isAnswer ? [] : [encodeFile(kind.value, mark, path, context)];
    case "audio":
      return isAnswer ? transcriptOf(kind.value) : encodeAudio(kind.value, mark);
    case "opaque":
      return [checkedJson(kind.value.json, path) ?? "{}"];
    default:
      return [];
  }
}

type Mark = readonly [string, string | undefined];

function encodeImage({ source, detail }: Image, mark: Mark, path: string, context: ItemContext): string {
  const type = ["type", '"input_image"'] as const;
  if (source?.$case === "fileId")
    return objectText([type, ["file_id", heldFile(source.value, path, context)], ["detail", jsonOf(detail)], mark]);
  const url = source?.$case === "inline" ? dataUrl(source.value.mediaType, source.value.data) : source?.value;
  return objectText([type, ["image_url", jsonOf(url ?? "")], ["detail", jsonOf(detail)], mark]);
}

function encodeFile({ source, filename }: File, mark: Mark, path: string, context: ItemContext): string {
  const type = ["type", '"input_file"'] as const;
  const name = ["filename", jsonOf(filename)] as const;
  if (source?.$case === "fileId")
    return objectText([type, ["file_id", heldFile(source.value, path, context)], name, mark]);
  if (source?.$case === "url") return objectText([type, ["file_url", jsonOf(source.value)], name, mark]);
  const data = source === undefined ? "" : dataUrl(source.value.mediaType, source.value.data);
  return objectText([type, ["file_data", jsonOf(data)], name, mark]);
}

function heldFile(id: string, param: string, { model, isForeign }: ItemContext): string {
  if (!isForeign) return JSON.stringify(id);
  const problem = "it takes media by their bytes or address, not by a file's id";
  throw unsupported(param, problem, { model });
}

function encodeAudio({ source, transcript }: Audio, mark: Mark): string[] {
  if (source?.$case !== "inline") return transcriptOf({ source, transcript });
  const { mediaType, data } = source.value;
  const audio = JSON.stringify({ data: data.toString("base64"), format: encodeAudioFormat(mediaType) });
  return [objectText([["type", '"input_audio"'], ["input_audio", audio], mark])];
}

/** What was said in a sound that another upstream holds. */
function transcriptOf({ transcript }: Audio): string[] {
  return transcript === undefined ? [] : [`{"type":"input_text","text":${jsonOf(transcript)}}`];
}
