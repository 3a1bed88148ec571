/** What a client says of whom a request is for and who sends it, on its way to the service, which keeps records. */
import {
  CLIENT_HEADER,
  CLIENT_REQUEST_HEADER,
  CONVERSATION_HEADER,
  LOG_HEADER,
  TAGS_HEADER,
  USER_HEADER,
} from "../api/request-headers.js";
import type { IncomingHttpHeaders } from "node:http";
import { metadataValue } from "./headers.js";

/** Headers by the name that the service reads them under. Of two that mean the same the first stands. */
const HEADERS = [
  ["user-agent", CLIENT_HEADER],
  [CLIENT_REQUEST_HEADER, CLIENT_REQUEST_HEADER],
  [TAGS_HEADER, TAGS_HEADER],
  [USER_HEADER, USER_HEADER],
  [CONVERSATION_HEADER, CONVERSATION_HEADER],
  ["session_id", CONVERSATION_HEADER],
  [LOG_HEADER, LOG_HEADER],
  // Of W3C Trace Context.
  ["traceparent", "traceparent"],
  ["tracestate", "tracestate"],
] as const;

/** Copies those of them that came. */
export function addRecordHeaders(headers: IncomingHttpHeaders, metadata: Record<string, string>): void {
  for (const [from, to] of HEADERS) {
    const value = headers[from];
    if (typeof value === "string") metadata[to] ??= metadataValue(value);
  }
}
