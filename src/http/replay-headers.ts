/** What a client says of attempts before and after this one, on its way to the service. */
import { IDEMPOTENCY_HEADER } from "../api/request-headers.js";
import type { IncomingHttpHeaders } from "node:http";
import { isHeaderValue } from "./headers.js";

export const RESUMABLE_HEADER = "x-tollgate-resumable";
export const RETRY_HEADER = "x-stainless-retry-count";

/** Copies those of them that came. A key that is no text stays empty: two of them must never look the same. */
export function addReplayHeaders(headers: IncomingHttpHeaders, metadata: Record<string, string>): void {
  const key = headers[IDEMPOTENCY_HEADER];
  if (typeof key === "string") metadata[IDEMPOTENCY_HEADER] = isHeaderValue(key) ? key : "";
  const retryCount = headers[RETRY_HEADER];
  if (typeof retryCount === "string" && isHeaderValue(retryCount)) metadata[RETRY_HEADER] = retryCount;
  if (headers[RESUMABLE_HEADER] === "1") metadata[RESUMABLE_HEADER] = "1";
}
