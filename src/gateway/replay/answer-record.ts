/** A recorded answer as bytes: its headers, then its messages, each with its length before it. */
import type { CallMetadata } from "../../api/channel.js";

const LENGTH_BYTES = 4;

export function writeRecord(headers: CallMetadata, messages: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  for (const bytes of [Buffer.from(JSON.stringify(headers)), ...messages]) {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(bytes.length);
    parts.push(length, bytes);
  }
  return Buffer.concat(parts);
}

/** Throws if the bytes are not a record. */
export function readRecord(bytes: Buffer): { readonly headers: CallMetadata; readonly messages: readonly Buffer[] } {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const start = at + LENGTH_BYTES;
    at = start + bytes.readUInt32BE(at);
    if (at > bytes.length) throw new RangeError("a stored answer ends early");
    parts.push(bytes.subarray(start, at));
  }
  const [headers, ...messages] = parts;
  if (headers === undefined) throw new RangeError("a stored answer is empty");
  return { headers: readHeaders(headers), messages };
}

function readHeaders(bytes: Buffer): CallMetadata {
  const value: unknown = JSON.parse(bytes.toString());
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(value ?? {})) if (typeof text === "string") headers[name] = text;
  return headers;
}
