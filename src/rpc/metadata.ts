/** Headers of a call between our plain form and grpc-js's. */
import { CLIENT_HEADER } from "../api/request-headers.js";
import { Metadata } from "@grpc/grpc-js";
import type { CallMetadata } from "../api/channel.js";
import { MalformedFrame } from "./tunnel-frame.js";

/** Names that gRPC and HTTP/2 keep for themselves. */
const RESERVED = /^(?:grpc-|:)|-bin$/;
const OWN = new Set(["content-type", "user-agent", "te", "date", "host", "connection"]);
/** What a header's value may hold in gRPC: printable ASCII. */
const ODD = /[^\x20-\x7e]/g;

/** How many different names are remembered. */
const NAMES_MAX = 256;
const LEGAL_NAME = /^[0-9a-z_.-]+$/;
const known = new Map<string, boolean>();

/** The headers as lines of a name, a colon and a value: one text costs less than a message for each header. */
export function writeHeaderLines(headers: CallMetadata, without?: string): string {
  let lines = "";
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && name !== without && isText(name)) lines += `${name}:${value.replace(ODD, "?")}\n`;
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
    if (isText(name) && !Object.hasOwn(headers, name)) headers[name] = lines.slice(colon + 1, end);
    start = end + 1;
  }
  return headers;
}

/** True for a name of a text header that is the caller's to give. Throws for what is no name. */
function isText(name: string): boolean {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (!LEGAL_NAME.test(name)) throw new MalformedFrame(`${JSON.stringify(name)} is no name of a header`);
  const isOurs = !RESERVED.test(name) && !OWN.has(name);
  if (known.size < NAMES_MAX) known.set(name, isOurs);
  return isOurs;
}

export function writeMetadata(headers: CallMetadata): Metadata {
  const metadata = new Metadata();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && isText(name)) metadata.set(name, value.replace(ODD, "?"));
  }
  return metadata;
}

/** The text headers. Of a header that comes twice the first stands. */
export function readMetadata(metadata: Metadata): CallMetadata {
  const headers: Record<string, string> = {};
  const first = metadata.getMap();
  for (const name in first) {
    const value = first[name];
    if (typeof value === "string" && isText(name)) headers[name] = value;
  }
  // Our own front ends say whose program their client is.
  const agent = first["user-agent"];
  if (typeof agent === "string") headers[CLIENT_HEADER] ??= agent;
  return headers;
}
