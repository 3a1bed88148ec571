/** From the parts of a content to typed parts. */
import { createHash } from "node:crypto";
import type { Part, ToolCall } from "../../../api/index.js";
import type { JsonNode } from "../../json/node.js";
import { wrongValue } from "../../json/node.js";
import { plainMediaType } from "../../request/media-type.js";
import { partOf, textPart, opaquePart } from "../../request/part.js";
import { ProtoReader } from "./decode-object.js";
import { WIRE_NAME } from "../facts.js";
import { decodeProof } from "../answer/proof.js";

/** The calls of a conversation so far that no result has answered: a client may leave out their ids. */
export class OpenCalls {
  private readonly open: { readonly id: string; readonly name: string }[] = [];
  private made = 0;

  /** Notes a call; makes an id for one that has none. */
  add(id: string | undefined, name: string): string {
    const known = id ?? this.makeId(name);
    this.open.push({ id: known, name });
    return known;
  }

  /** The id of the call that a result answers: its own, else that of the oldest open call of the tool. */
  answer(id: string | undefined, name: string): string {
    const place = this.open.findIndex((call) => (id === undefined ? call.name === name : call.id === id));
    const call = place === -1 ? undefined : this.open.splice(place, 1)[0];
    return id ?? call?.id ?? this.makeId(name);
  }

  private makeId(name: string): string {
    return `call_${createHash("sha256")
      .update(`${this.made++} ${name}`)
      .digest("hex")
      .slice(0, 24)}`;
  }
}

/** One part as typed parts: its signature may stand as one of its own. Throws PARAMETER_*. */
export function decodePart(node: JsonNode, path: string, calls: OpenCalls): Part[] {
  const reader = new ProtoReader(node, path);
  const signature = reader.text("thoughtSignature");
  const call = reader.object("functionCall");
  if (call !== undefined) return [partOf({ $case: "toolCall", value: decodeCall(call, signature, calls) })];
  const text = reader.text("text");
  if (reader.flag("thought") === true) return decodeThought(text ?? "", signature);
  const proof = signature === undefined ? [] : decodeThought("", signature);
  if (text !== undefined) return text === "" ? proof : [textPart(text), ...proof];
  const data = reader.object("inlineData");
  if (data !== undefined) return [decodeInline(data), ...proof];
  const file = reader.object("fileData");
  if (file !== undefined) return [decodeFile(file), ...proof];
  const response = reader.object("functionResponse");
  if (response !== undefined) return [decodeResult(response, calls)];
  return [opaquePart(WIRE_NAME, node.raw())];
}

function decodeThought(text: string, signature: string | undefined): Part[] {
  if (signature === undefined)
    return text === "" ? [] : [partOf({ $case: "thinking", value: { text, signature: undefined } })];
  const proof = decodeProof(signature);
  if (proof.kind === "redacted") return [partOf({ $case: "redactedThinking", value: { data: proof.data } })];
  return [partOf({ $case: "thinking", value: { text, signature: proof.signature } })];
}

function decodeCall(reader: ProtoReader, signature: string | undefined, calls: OpenCalls): ToolCall {
  const name = reader.requiredText("name");
  const id = calls.add(reader.text("id"), name);
  return {
    id,
    name,
    arguments: reader.object("args") === undefined ? "{}" : (reader.raw("args") ?? "{}"),
    custom: false,
    signature,
  };
}

function decodeInline(reader: ProtoReader): Part {
  const mediaType = reader.requiredText("mimeType");
  const data = Buffer.from(reader.requiredText("data"), "base64");
  const source = { $case: "inline" as const, value: { mediaType, data } };
  const plain = plainMediaType(mediaType);
  if (plain.startsWith("image/")) return partOf({ $case: "image", value: { source, detail: undefined } });
  if (plain.startsWith("audio/")) return partOf({ $case: "audio", value: { source, transcript: undefined } });
  return partOf({ $case: "file", value: { source, filename: reader.text("displayName") } });
}

function decodeFile(reader: ProtoReader): Part {
  const source = { $case: "url" as const, value: reader.requiredText("fileUri") };
  if (reader.text("mimeType")?.startsWith("image/") === true)
    return partOf({ $case: "image", value: { source, detail: undefined } });
  return partOf({ $case: "file", value: { source, filename: reader.text("displayName") } });
}

/** A result: the members `output` and `error` have a meaning of their own, any other object is the output itself. */
function decodeResult(reader: ProtoReader, calls: OpenCalls): Part {
  const callId = calls.answer(reader.text("id"), reader.requiredText("name"));
  const response = reader.value("response");
  if (response !== undefined && response.kind !== "object")
    throw wrongValue(reader.pathOf("response"), `it must be an object, not ${response.kind}`);
  const [only, ...others] = response?.members ?? [];
  const isWrapped = only !== undefined && others.length === 0 && (only[0] === "output" || only[0] === "error");
  const text = isWrapped ? plain(only[1]) : (response?.raw() ?? "");
  const parts = text === "" ? [] : [textPart(text)];
  for (const part of reader.objects("parts")) {
    const data = part.object("inlineData");
    const file = part.object("fileData");
    if (data !== undefined) parts.push(decodeInline(data));
    else if (file !== undefined) parts.push(decodeFile(file));
  }
  return partOf({ $case: "toolResult", value: { callId, parts, isError: isWrapped && only[0] === "error" } });
}

/** A string as it is, anything else as its JSON. */
function plain(node: JsonNode): string {
  return node.kind === "string" ? node.text : node.raw();
}
