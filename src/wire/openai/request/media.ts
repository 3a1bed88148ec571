/** How OpenAI names kinds of sound and times of caching, and where it has media. */
import type { InlineData } from "../../../api/index.js";
import type { JsonCursor } from "../../json/cursor.js";
import { wrongValue } from "../../json/node.js";
import { ADDRESS_HEAD_CHARACTERS, mayBePicture } from "../../request/picture.js";

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([["mp3", "audio/mpeg"]]);

/** The media type of a format such as wav or mp3. */
export function decodeAudioFormat(format: string): string {
  return AUDIO_FORMATS.get(format) ?? `audio/${format}`;
}

/** The format of a media type. */
export function encodeAudioFormat(mediaType: string): string {
  for (const [format, known] of AUDIO_FORMATS) if (known === mediaType) return format;
  return mediaType.replace(/^audio\/(x-)?/, "");
}

const UNIT_SECONDS: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
]);

/** A time such as 30m, in seconds; undefined where it is none. */
export function decodeTtl(text: string | undefined): number | undefined {
  const match = /^(\d{1,6})([smh])$/.exec(text ?? "");
  const unit = UNIT_SECONDS.get(match?.[2] ?? "");
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** The shorter of the wire's two times that is long enough, else the longer. */
export function encodeTtl(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  return seconds <= 1800 ? "30m" : "12h";
}

export function dataUrl(mediaType: string, data: Buffer): string {
  return `data:${mediaType};base64,${data.toString("base64")}`;
}

export type Address = { $case: "url"; value: string } | { $case: "inline"; value: InlineData };

/** How a data URL says that it holds bytes, which servers read in whatever case. */
const IS_BASE64 = /;\s*base64\s*$/i;

/** An address, or the bytes that a data URL holds. Throws PARAMETER_INVALID for a data URL that holds none. */
export function addressOrData(url: string, path: string): Address {
  if (!url.startsWith("data:")) return { $case: "url", value: url };
  const comma = url.indexOf(",");
  if (comma === -1) throw wrongValue(path, "it is no data URL: a comma is missing");
  const head = url.slice("data:".length, comma);
  const body = url.slice(comma + 1);
  const isBase64 = IS_BASE64.exec(head);
  if (isBase64 !== null) {
    const mediaType = head.slice(0, isBase64.index) || "text/plain";
    return { $case: "inline", value: { mediaType, data: Buffer.from(body, "base64") } };
  }
  try {
    return { $case: "inline", value: { mediaType: head || "text/plain", data: Buffer.from(decodeURIComponent(body)) } };
  } catch (cause) {
    throw wrongValue(path, `it is no data URL: ${cause instanceof Error ? cause.message : "its text is broken"}`);
  }
}

/** What a part of media takes of a body, and whether it is what a picture's place is for. */
export class PartMedia {
  /** Of the media themselves. */
  bytes = 0;
  /** False where a URL may lead to something else, such as a film, which some upstreams take there. */
  isPicture = true;

  /** Passes the body of the part, or the bare string that some clients send. */
  passIn(cursor: JsonCursor, field: string, isUrl: boolean): void {
    if (cursor.kind() !== "object") return this.pass(cursor, isUrl);
    cursor.enterObject();
    for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
      if (key === field) this.pass(cursor, isUrl);
      else cursor.skip();
    }
  }

  /** Passes a value of a body: a string that is media, or an address elsewhere, which is text. */
  pass(cursor: JsonCursor, isUrl: boolean): void {
    const start = cursor.at;
    const head = isUrl ? cursor.headOfString(ADDRESS_HEAD_CHARACTERS) : "";
    const isMedia = cursor.kind() === "string" && (!isUrl || head.startsWith("data:"));
    if (isUrl && !mayBePicture(head)) this.isPicture = false;
    cursor.skip();
    if (isMedia) this.bytes += cursor.at - start;
  }
}
