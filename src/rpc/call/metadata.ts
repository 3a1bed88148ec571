/** Headers of a call between our plain form and grpc-js's. */
import { CLIENT_HEADER } from "../../api/request-headers.js";
import { Metadata } from "@grpc/grpc-js";
import type { CallMetadata } from "../../api/channel.js";

/** Names that gRPC and HTTP/2 keep for themselves. */
const RESERVED = /^(?:grpc-|:)|-bin$/;
const OWN = new Set(["content-type", "user-agent", "te", "date", "host", "connection"]);
/** What a header's value may hold in gRPC: printable ASCII. */
const ODD = /[^\x20-\x7e]/g;

/** How many different names are remembered. */
const NAMES_MAX = 256;
const LEGAL_NAME = /^[0-9a-z_.-]+$/;
const known = new Map<string, boolean>();

/** True for the name of a text header that is the caller's to give, undefined for what is no name of a header. */
export function isTextHeader(name: string): boolean | undefined {
  const found = known.get(name);
  if (found !== undefined) return found;
  if (!LEGAL_NAME.test(name)) return undefined;
  const isOurs = !RESERVED.test(name) && !OWN.has(name);
  if (known.size < NAMES_MAX) known.set(name, isOurs);
  return isOurs;
}

/** The value in printable ASCII, which is all that gRPC carries. */
export function headerValue(value: string): string {
  return value.replace(ODD, "?");
}

export function writeMetadata(headers: CallMetadata): Metadata {
  const metadata = new Metadata();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && isTextHeader(name)) metadata.set(name, headerValue(value));
  }
  return metadata;
}

/** The text headers. Of a header that comes twice the first stands. */
export function readMetadata(metadata: Metadata): CallMetadata {
  const headers: Record<string, string> = {};
  const first = metadata.getMap();
  for (const name in first) {
    const value = first[name];
    if (typeof value === "string" && isTextHeader(name)) headers[name] = value;
  }
  // Our own front ends say whose program their client is.
  const agent = first["user-agent"];
  if (typeof agent === "string") headers[CLIENT_HEADER] ??= agent;
  return headers;
}
