/** Parts that come whole, as members of a delta or of a message. */
import type { Part } from "../../../api/index.js";
import type { JsonObject } from "../../json/value.js";
import { dataUrl } from "../../openai/request/media.js";
import { WIRE_NAME } from "../facts.js";
import { detailJson, detailOfPart } from "./proof.js";

/** Adds the entry of a thought, at a place that no other of the list has: clients join entries by it. */
export function addDetail(details: JsonObject[], part: Part): void {
  const detail = detailOfPart(part);
  if (detail !== undefined) details.push(detailJson({ ...detail, index: details.length }));
}

/** The members that tell a part that is no thought; undefined where the wire has no place for it. */
export function encodeDeltaPart(part: Part | undefined): string | undefined {
  const kind = part?.kind;
  switch (kind?.$case) {
    case "text": {
      const { text, citationsJson } = kind.value;
      const citations = citationsJson === undefined ? "" : `,"annotations":${citationsJson}`;
      return `"content":${JSON.stringify(text)}${citations}`;
    }
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
