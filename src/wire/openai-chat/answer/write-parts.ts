/** Parts that come whole, as members of a delta or of a message. */
import type { Part } from "../../../api/index.js";
import { dataUrl } from "../../openai/request/media.js";
import { WIRE_NAME } from "../facts.js";

/** The members that tell a part; undefined where the wire has no place for it. */
export function encodeDeltaPart(part: Part | undefined): string | undefined {
  const kind = part?.kind;
  switch (kind?.$case) {
    case "text": {
      const { text, citationsJson } = kind.value;
      const citations = citationsJson === undefined ? "" : `,"annotations":${citationsJson}`;
      return `"content":${JSON.stringify(text)}${citations}`;
    }
    case "thinking":
      return `"reasoning_content":${JSON.stringify(kind.value.text)}`;
    case "redactedThinking":
      return `"reasoning_details":[{"type":"reasoning.encrypted","data":${JSON.stringify(kind.value.data)}}]`;
    case "refusal":
      return `"refusal":${JSON.stringify(kind.value.text)}`;
    case "image": {
      const { source } = kind.value;
      if (source === undefined || source.$case === "fileId") return undefined;
      const url = source.$case === "url" ? source.value : dataUrl(source.value.mediaType, source.value.data);
      return `"images":[{"type":"image_url","image_url":{"url":${JSON.stringify(url)}}}]`;
    }
    case "audio": {
      const { source, transcript } = kind.value;
      const id = source?.$case === "fileId" ? source.value : "";
      const data = source?.$case === "inline" ? source.value.data.toString("base64") : "";
      return `"audio":${JSON.stringify({ id, data, transcript: transcript ?? "", expires_at: 0 })}`;
    }
    case "opaque":
      return kind.value.wire === WIRE_NAME ? `"content_parts":[${kind.value.json}]` : undefined;
    default:
      return undefined;
  }
}
