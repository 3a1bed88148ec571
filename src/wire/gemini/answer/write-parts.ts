/** What a model said, as the parts that a client of this wire reads. */
import type { InlineData, Part, ToolCall } from "../../../api/index.js";
import { jsonOf, objectText } from "../../json/text.js";
import { WIRE_NAME } from "../facts.js";
import { encodeProof, encodeRedacted } from "./proof.js";
import { inputObject } from "../../request/call-input.js";

export function textJson(text: string): string {
  return `{"text":${JSON.stringify(text)}}`;
}

export function thoughtJson(text: string, signature: string | undefined): string {
  return objectText([
    ["text", JSON.stringify(text)],
    // A proof alone belongs to the text before it.
    ["thought", text === "" && signature !== undefined ? undefined : "true"],
    ["thoughtSignature", signature === undefined ? undefined : jsonOf(encodeProof(signature))],
  ]);
}

/** A call, whole. Free text for a tool stands in a member of its own. */
export function callJson(call: ToolCall): string {
  const args = call.custom ? `{"input":${JSON.stringify(call.arguments)}}` : inputObject(call.arguments);
  return objectText([
    [
      "functionCall",
      objectText([
        ["id", jsonOf(call.id)],
        ["name", jsonOf(call.name)],
        ["args", args],
      ]),
    ],
    ["thoughtSignature", jsonOf(call.signature)],
  ]);
}

/** A part that comes whole; undefined where the wire has no place for it. */
export function partJson({ kind }: Part): string | undefined {
  switch (kind?.$case) {
    case "text":
    case "refusal":
      return kind.value.text === "" ? undefined : textJson(kind.value.text);
    case "thinking":
      return thoughtJson(kind.value.text, kind.value.signature);
    case "redactedThinking":
      return `{"text":"","thought":true,"thoughtSignature":${JSON.stringify(encodeRedacted(kind.value.data))}}`;
    case "toolCall":
      return callJson(kind.value);
    case "image":
    case "file":
    case "audio":
      if (kind.value.source?.$case === "inline") return inlineJson(kind.value.source.value);
      if (kind.value.source?.$case === "url")
        return `{"fileData":{"fileUri":${JSON.stringify(kind.value.source.value)}}}`;
      return undefined;
    case "opaque":
      return kind.value.wire === WIRE_NAME ? kind.value.json : undefined;
    case "toolResult":
    case undefined:
      return undefined;
    default:
      return kind satisfies never;
  }
}

function inlineJson({ mediaType, data }: InlineData): string {
  return `{"inlineData":{"mimeType":${JSON.stringify(mediaType)},"data":"${data.toString("base64")}"}}`;
}
