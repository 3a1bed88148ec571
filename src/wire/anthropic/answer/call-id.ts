/** Ids of calls: those that the wire refuses, such as Kimi's, are spelled in signs that it takes, and read back. */
import { createHash } from "node:crypto";

const LEGAL = /^[A-Za-z0-9_-]{1,128}$/;
const SPELLED = "toolu_tg_";
const CHARACTERS_MAX = 128;

/** The id as the wire takes it. A call and its result still belong together, and a client brings back the id itself. */
export function encodeCallId(id: string): string {
  if (LEGAL.test(id) && !id.startsWith(SPELLED)) return id;
  const spelled = SPELLED + Buffer.from(id).toString("base64url");
  if (id !== "" && spelled.length <= CHARACTERS_MAX) return spelled;
  return `toolu_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

export function decodeCallId(wire: string): string {
  if (!wire.startsWith(SPELLED)) return wire;
  const id = Buffer.from(wire.slice(SPELLED.length), "base64url").toString();
  // Only what was spelled here is read so.
  return encodeCallId(id) === wire ? id : wire;
}
