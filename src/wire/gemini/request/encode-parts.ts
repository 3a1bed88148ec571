/** From typed parts to the parts of a content. */
import type { Audio, File, Image, InlineData, Part, ToolCall, ToolResult } from "../../../api/index.js";
import { unsupported } from "../../error/refusals.js";
import { wrappedText } from "../../request/free-text.js";
import { arrayText, checkedJson, jsonOf, objectText } from "../../json/text.js";
import type { ModelRules } from "./encode-rules.js";
import { WIRE_NAME } from "../facts.js";
import { googlesOwn } from "../answer/proof.js";
import { inputObject } from "../../request/call-input.js";
import { isFilmAddress } from "../../request/picture.js";
import { structText } from "./encode-response.js";
import { isHeldFile } from "./scan-tools.js";

/** What the writing of a prompt depends on. */
export interface PromptContext {
  readonly rules: ModelRules;
  /** The model, as refusals name it. */
  readonly model: string;
  /** True where the prompt comes from another wire: what only its upstreams understand means nothing here. */
  readonly isForeign: boolean;
  /** Takes the name of what had no place and was left out. */
  readonly drop: (param: string) => void;
}

const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ["png", "image/png"],
  ["webp", "image/webp"],
  ["gif", "image/gif"],
  ["heic", "image/heic"],
]);
/** What Google reads at an address, by how that ends. */
const FILE_TYPES: ReadonlyMap<string, string> = new Map([
  ["txt", "text/plain"],
  ["html", "text/html"],
  ["xml", "text/xml"],
  ["csv", "text/csv"],
  ["json", "application/json"],
]);

/** The parts as JSON texts. `nameOf` tells which tool a call went to; a result of an unknown call becomes text. */
export function encodeParts(
  parts: readonly Part[],
  path: string,
  nameOf: (callId: string) => string | undefined,
  context: PromptContext,
): string[] {
  const texts: string[] = [];
  // Results come first: they answer the calls of the turn before.
  const results = parts.filter((part) => part.kind?.$case === "toolResult");
  const others = results.length === 0 ? parts : parts.filter((part) => part.kind?.$case !== "toolResult");
  const behind: string[] = [];
  for (const { kind } of results) {
    if (kind?.$case !== "toolResult") continue;
    texts.push(encodeResult(kind.value, nameOf(kind.value.callId), path, context));
    if (!context.rules.mediaInResults) behind.push(...mediaOf(kind.value.parts, path, context));
  }
  others.forEach((part, place) => {
    const text = encodePart(part, `${path}[${place}]`, context);
    if (text !== undefined) behind.push(text);
  });
  return [...texts, ...behind];
}

function encodePart({ kind }: Part, path: string, context: PromptContext): string | undefined {
  switch (kind?.$case) {
    case "text":
    case "refusal":
      // Empty text is refused, and a coding agent's line of accounting would only break the upstream's cache.
      if (kind.value.text === "" || (context.isForeign && isAccounting(kind.value.text))) return undefined;
      return `{"text":${JSON.stringify(kind.value.text)}}`;
    case "thinking":
      return encodeThought(kind.value.text, kind.value.signature, context);
    case "toolCall":
      return encodeCall(kind.value);
    case "image":
      return encodeImage(kind.value, path, context);
    case "audio":
      return encodeAudio(kind.value);
    case "file":
      return encodeFile(kind.value, path, context);
    case "opaque":
      return kind.value.wire === WIRE_NAME ? checkedJson(kind.value.json, path) : undefined;
    case "redactedThinking":
    case "toolResult":
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** Only Google's own proofs go back to Google; without one a thought of somebody else's is left out. */
function encodeThought(text: string, signature: string | undefined, { isForeign }: PromptContext): string | undefined {
  const proof = signature === undefined ? undefined : googlesOwn(signature);
  if (proof === undefined && (isForeign || text === "")) return undefined;
  return objectText([
    ["text", JSON.stringify(text)],
    ["thought", text === "" ? undefined : "true"],
    ["thoughtSignature", jsonOf(proof)],
  ]);
}

function encodeCall({ id, name, arguments: text, custom, signature }: ToolCall): string {
  const args = custom ? wrappedText(text) : inputObject(text);
  const call = objectText([
    ["id", id === "" ? undefined : jsonOf(id)],
    ["name", jsonOf(name)],
    ["args", args],
  ]);
  return objectText([
    ["functionCall", call],
    ["thoughtSignature", jsonOf(signature)],
  ]);
}

function encodeResult(result: ToolResult, name: string | undefined, path: string, context: PromptContext): string {
  const text = result.parts
    .map(({ kind }) => (kind?.$case === "text" || kind?.$case === "refusal" ? kind.value.text : ""))
    .join("");
  if (name === undefined) return `{"text":${JSON.stringify(`The tool call ${result.callId} returned: ${text}`)}}`;
  const told = `{"${result.isError ? "error" : "output"}":${JSON.stringify(text)}}`;
  const response = (result.isError ? undefined : structText(text)) ?? told;
  const media = context.rules.mediaInResults ? mediaOf(result.parts, path, context) : [];
  const answered = objectText([
    ["id", jsonOf(result.callId)],
    ["name", jsonOf(name)],
    ["response", response],
    ["parts", media.length === 0 ? undefined : arrayText(media)],
  ]);
  return `{"functionResponse":${answered}}`;
}

function mediaOf(parts: readonly Part[], path: string, context: PromptContext): string[] {
  return parts.flatMap((part) => {
    const isMedia = part.kind?.$case === "image" || part.kind?.$case === "file" || part.kind?.$case === "audio";
    const text = isMedia ? encodePart(part, path, context) : undefined;
    return text === undefined ? [] : [text];
  });
}

function encodeImage({ source }: Image, path: string, context: PromptContext): string | undefined {
  if (source?.$case === "inline") return inlineText(source.value);
  const address = source?.value ?? "";
  return addressText(address, IMAGE_TYPES.get(endingOf(address)) ?? "image/jpeg", path, context);
}

/** How an address ends, without its query. */
function endingOf(address: string): string {
  return /\.([a-z]{3,4})(?:[?#]|$)/i.exec(address)?.[1]?.toLowerCase() ?? "";
}

function encodeAudio({ source }: Audio): string | undefined {
  // Sound that another upstream holds cannot be heard here; what was said in it stands beside it.
  return source?.$case === "inline" ? inlineText(source.value) : undefined;
}

function encodeFile({ source }: File, path: string, context: PromptContext): string | undefined {
  if (source?.$case === "inline") return inlineText(source.value);
  const address = source?.value ?? "";
  const mediaType = isFilmAddress(address) ? undefined : (FILE_TYPES.get(endingOf(address)) ?? "application/pdf");
  return addressText(address, mediaType, path, context);
}

function inlineText({ mediaType, data }: InlineData): string {
  return `{"inlineData":{"mimeType":${JSON.stringify(mediaType)},"data":"${data.toString("base64")}"}}`;
}

function addressText(address: string, mediaType: string | undefined, path: string, context: PromptContext): string {
  // Google fetches what everybody may read. Its own stores would be read with a credential that is not the client's.
  if (context.isForeign && (!address.startsWith("https://") || isHeldFile(address))) {
    const problem = "it takes media by their bytes, such as a data URL, or by an https address that everybody may read";
    throw unsupported(path, problem, context);
  }
  const file = objectText([
    ["mimeType", jsonOf(mediaType)],
    ["fileUri", jsonOf(address)],
  ]);
  return `{"fileData":${file}}`;
}

function isAccounting(text: string): boolean {
  return text.startsWith("x-anthropic-billing-header");
}
