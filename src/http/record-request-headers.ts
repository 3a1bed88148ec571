/** What a client says of whom a request is for and who sends it, on its way to the service, which keeps records. */
import { conversationIn } from "../api/conversation.js";
import { CONVERSATION_HEADER, MATCH_HEADER, MATCH_HEADER_PREFIX, RECORD_HEADERS } from "../api/request-headers.js";
import type { IncomingHttpHeaders } from "node:http";
import { isHeaderValue, metadataValue } from "./headers.js";

/** Copies those of them that came, and those by which targets are chosen. */
export function addRecordHeaders(headers: IncomingHttpHeaders, metadata: Record<string, string>): void {
  for (const [from, to] of RECORD_HEADERS) {
    const value = headers[from];
    if (typeof value !== "string") continue;
    // Of several names of a session the first that is one stands.
    if (to === CONVERSATION_HEADER && (!isHeaderValue(value) || conversationIn(value) === "")) continue;
    metadata[to] ??= metadataValue(value);
  }
  for (const name in headers) {
    const value = name.startsWith(MATCH_HEADER_PREFIX) && MATCH_HEADER.test(name) ? headers[name] : undefined;
    if (typeof value === "string") metadata[name] = metadataValue(value);
  }
}
