/** From the content of a message to typed parts. */
import type { CacheMark, InlineData, Part } from "../../../api/index.js";
import { type JsonNode, ObjectReader } from "../../json/node.js";
import { partOf, textPart, opaquePart } from "../../request/part.js";
import { decodeCallId } from "../answer/call-id.js";
import { WIRE_NAME } from "../facts.js";
import { decodeProof, decodeRedacted } from "../answer/proof.js";
import { textOfBlocks, toldAsText } from "./decode-as-text.js";

/** A content: a string, or blocks; empty where there is none. */
export function decodeContent(reader: ObjectReader, key = "content"): Part[] {
  const node = reader.peek(key);
  if (node?.kind !== "array") {
    const text = reader.text(key) ?? "";
    return text === "" ? [] : [textPart(text)];
  }
  const parts: Part[] = [];
  // State of a call stands in the thought before it.
  let state: string | undefined;
  for (const [place, item] of (reader.list(key) ?? []).entries()) {
    const block = new ObjectReader(item, `${reader.pathOf(key)}[${place}]`);
    const proof = block.peek("type")?.text === "thinking" ? decodeProof(block.text("signature") ?? "") : undefined;
    if (proof?.kind === "call") {
      state = proof.signature;
      continue;
    }
    const part = decodeBlock(block, item);
    if (part.kind?.$case === "toolCall") {
      part.kind.value.signature = state;
      state = undefined;
    }
    parts.push(part);
  }
  return parts;
}

function decodeBlock(reader: ObjectReader, node: JsonNode): Part {
  const mark = decodeCacheMark(reader);
  switch (reader.requiredText("type")) {
    case "text":
      return textPart(reader.requiredText("text"), mark, filled(reader.peek("citations")));
    case "image":
      return decodeImage(reader, mark) ?? opaque(node);
    case "document":
      return decodeDocument(reader, mark) ?? opaque(node);
    case "tool_use": {
      const id = decodeCallId(reader.requiredText("id"));
      const value = { id, name: reader.requiredText("name"), arguments: reader.raw("input") ?? "{}" };
      return partOf({ $case: "toolCall", value: { ...value, custom: false, signature: undefined } }, mark);
    }
    case "tool_result": {
      const callId = decodeCallId(reader.requiredText("tool_use_id"));
      const isError = reader.flag("is_error") ?? false;
      return partOf({ $case: "toolResult", value: { callId, parts: decodeContent(reader), isError } }, mark);
    }
    case "thinking": {
      const { signature } = decodeProof(reader.text("signature") ?? "");
      return partOf({ $case: "thinking", value: { text: reader.requiredText("thinking"), signature } });
    }
    case "redacted_thinking":
      return partOf({ $case: "redactedThinking", value: { data: decodeRedacted(reader.requiredText("data")) } });
    default: {
      const text = toldAsText(reader.requiredText("type"), node.raw());
      return text === undefined ? opaque(node) : textPart(text, mark);
    }
  }
}

function opaque(node: JsonNode): Part {
  return opaquePart(WIRE_NAME, node.raw());
}

/** The list's own JSON; undefined where it holds nothing. */
function filled(node: JsonNode | undefined): string | undefined {
  return node !== undefined && node.items.length > 0 ? node.raw() : undefined;
}

export function decodeCacheMark(reader: ObjectReader): CacheMark | undefined {
  const mark = reader.object("cache_control");
  if (mark === undefined) return undefined;
  const ttl = mark.text("ttl");
  return { ttlSeconds: ttl === undefined ? undefined : (TTL_SECONDS.get(ttl) ?? undefined) };
}

const TTL_SECONDS: ReadonlyMap<string, number> = new Map([
  ["5m", 300],
  ["1h", 3600],
]);

type Source =
  | { $case: "url"; value: string }
  | { $case: "inline"; value: InlineData }
  | { $case: "fileId"; value: string };

function decodeImage(reader: ObjectReader, mark: CacheMark | undefined): Part | undefined {
  const source = decodeSource(reader.requiredObject("source"));
  return source && partOf({ $case: "image", value: { source, detail: undefined } }, mark);
}

function decodeDocument(reader: ObjectReader, mark: CacheMark | undefined): Part | undefined {
  const source = decodeSource(reader.requiredObject("source"));
  return source && partOf({ $case: "file", value: { source, filename: reader.text("title") } }, mark);
}

/** Undefined for a source that only the wire itself understands. */
function decodeSource(reader: ObjectReader): Source | undefined {
  switch (reader.requiredText("type")) {
    case "base64":
      return inline(reader.requiredText("media_type"), Buffer.from(reader.requiredText("data"), "base64"));
    case "text":
      return inline(reader.text("media_type") ?? "text/plain", Buffer.from(reader.requiredText("data")));
    case "url":
      return { $case: "url", value: reader.requiredText("url") };
    case "file":
      return { $case: "fileId", value: reader.requiredText("file_id") };
    case "content": {
      const text = textOfBlocks(reader.raw("content") ?? "");
      return text === undefined ? undefined : inline("text/plain", Buffer.from(text));
    }
    default:
      return undefined;
  }
}

function inline(mediaType: string, data: Buffer): Source {
  return { $case: "inline", value: { mediaType, data } };
}
