/** The one reply for every refusal: status, envelope, and what tells a client whether to try again. */
import { UNIFIED_LIMIT_PREFIX } from "../api/channel.js";
import { type ErrorMetadata, type GatewayError, reasonWord } from "../base/errors.js";
import type { Format } from "../formats/format.js";
import { plainEnvelope } from "../formats/plain-envelope.js";
import type { AnswerHeaders } from "./headers.js";
import { isHeaderValue } from "./headers.js";

export interface ErrorReply {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

/** The facts of a rate limit, as metadata names them and as headers do. */
const RATE_LIMIT_HEADERS = [
  ...["limit", "remaining", "reset"].flatMap((fact) =>
    ["requests", "tokens"].map((unit) => [`${fact}_${unit}`, `x-ratelimit-${fact}-${unit}`] as const),
  ),
  ["degraded", "x-tollgate-degraded"] as const,
];

/** A refusal for a client. Without a format it has OpenAI's envelope, the one most clients read. */
export function errorReply(error: GatewayError, requestId: string, format: Format | undefined): ErrorReply {
  const { status, body } = format?.encodeError(error, requestId) ?? plainEnvelope(error);
  return {
    status,
    headers: {
      ...format?.replyHeaders(requestId),
      ...errorHeaders(error),
      "x-request-id": requestId,
      "content-type": "application/json; charset=utf-8",
    },
    body,
  };
}

/** What an error says in headers, whichever envelope it has. */
export function errorHeaders(error: GatewayError): AnswerHeaders {
  const headers: AnswerHeaders = {
    "x-should-retry": String(error.retry),
    "x-tollgate-reason": reasonWord(error.reason),
    ...rateLimitHeaders(error.metadata),
  };
  const waitMs = error.retryAfterMs;
  if (waitMs !== undefined && Number.isFinite(waitMs) && waitMs >= 0) {
    headers["retry-after"] = String(Math.ceil(waitMs / 1000));
    headers["retry-after-ms"] = String(Math.ceil(waitMs));
  }
  if (error.http === 401) headers["www-authenticate"] = "Bearer";
  // Whoever may not change the protocol is told which one to keep (RFC 9110, 15.5.22).
  if (error.http === 426) Object.assign(headers, { upgrade: "HTTP/1.1", connection: "upgrade" });
  return headers;
}

function rateLimitHeaders(metadata: ErrorMetadata): AnswerHeaders {
  const headers: AnswerHeaders = {};
  for (const [key, header] of RATE_LIMIT_HEADERS) {
    const value = metadata[key];
    if (isHeaderValue(value)) headers[header] = value;
  }
  for (const [key, value] of Object.entries(metadata))
    if (key.startsWith(UNIFIED_LIMIT_PREFIX) && isHeaderValue(value)) headers[key] = value;
  return headers;
}
