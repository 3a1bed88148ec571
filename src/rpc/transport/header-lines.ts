/** The headers of a call as lines, as a tunnel carries them. */
import type { CallMetadata } from "../../api/channel.js";
import { headerValue, isTextHeader } from "../call/metadata.js";
import { MalformedFrame } from "./tunnel-frame.js";

/** The headers as lines of a name, a colon and a value: one text costs less than a message for each header. */
export function writeHeaderLines(headers: CallMetadata, without?: string): string {
  let lines = "";
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && name !== without && isOurs(name)) lines += `${name}:${headerValue(value)}\n`;
  }
  return lines;
}

/** Throws MalformedFrame where a line is no header. Of a header that comes twice the first stands. */
export function readHeaderLines(lines: string): CallMetadata {
  const headers: Record<string, string> = {};
  for (let start = 0; start < lines.length;) {
    const colon = lines.indexOf(":", start);
    const end = lines.indexOf("\n", start);
    if (colon <= start || end < colon) throw new MalformedFrame("a line is no header");
    const name = lines.slice(start, colon);
    if (isOurs(name) && !Object.hasOwn(headers, name)) headers[name] = lines.slice(colon + 1, end);
    start = end + 1;
  }
  return headers;
}

/** Throws MalformedFrame for what is no name of a header. */
function isOurs(name: string): boolean {
  const isText = isTextHeader(name);
  if (isText === undefined) throw new MalformedFrame(`${JSON.stringify(name)} is no name of a header`);
  return isText;
}
