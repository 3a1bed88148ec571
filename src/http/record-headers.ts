/** What a client says of whom a request is for and who sends it, on its way to the service, which keeps records. */
import { RECORD_HEADERS } from "../api/request-headers.js";
import type { IncomingHttpHeaders } from "node:http";
import { metadataValue } from "./headers.js";

/** Copies those of them that came. */
export function addRecordHeaders(headers: IncomingHttpHeaders, metadata: Record<string, string>): void {
  for (const [from, to] of RECORD_HEADERS) {
    const value = headers[from];
    if (typeof value === "string") metadata[to] ??= metadataValue(value);
  }
}
