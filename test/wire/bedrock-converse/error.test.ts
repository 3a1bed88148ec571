/** What refusals of Converse mean for our client, before an answer: by their name, their words, and their status. */
import { expect, test } from "vitest";
import type { RefusalKind } from "../../../src/wire/error/upstream-refusal.js";
import { decodeError } from "../../../src/wire/bedrock-converse/error.js";

interface Case {
  readonly status: number;
  readonly name?: string;
  readonly message?: string;
  readonly reason: string;
  readonly kind?: RefusalKind;
}

const LONG = "Input is too long for requested model.";

test.each<Case>([
  { status: 400, name: "ValidationException", reason: "UPSTREAM_REJECTED" },
  { status: 400, name: "ValidationException:http://internal.amazon.com/", reason: "UPSTREAM_REJECTED" },
  { status: 400, name: "ValidationException", message: LONG, reason: "CONTEXT_TOO_LONG" },
  {
    status: 400,
    name: "ValidationException",
    message: "The provided model identifier is invalid.",
    reason: "UPSTREAM_FAILED",
    kind: "model",
  },
  {
    status: 400,
    name: "ValidationException",
    message: "The tool 'The provided model identifier is invalid.' has no schema.",
    reason: "UPSTREAM_REJECTED",
    kind: "request",
  },
  {
    status: 400,
    name: "ValidationException",
    message: "The security token included in the request is expired",
    reason: "UPSTREAM_REJECTED",
    kind: "request",
  },
  { status: 403, name: "AccessDeniedException", reason: "UPSTREAM_CREDENTIAL", kind: "access" },
  { status: 403, name: "ExpiredTokenException", reason: "UPSTREAM_CREDENTIAL", kind: "credential" },
  { status: 403, name: "UnrecognizedClientException", reason: "UPSTREAM_CREDENTIAL", kind: "credential" },
  { status: 403, name: "InvalidSignatureException", reason: "UPSTREAM_CREDENTIAL", kind: "credential" },
  { status: 404, name: "ResourceNotFoundException", reason: "UPSTREAM_FAILED", kind: "model" },
  { status: 408, name: "ModelTimeoutException", reason: "UPSTREAM_TIMEOUT" },
  { status: 424, name: "ModelErrorException", reason: "UPSTREAM_FAILED" },
  { status: 429, name: "ThrottlingException", reason: "UPSTREAM_RATE_LIMITED" },
  { status: 429, name: "ModelNotReadyException", reason: "UPSTREAM_RATE_LIMITED" },
  { status: 503, name: "ServiceUnavailableException", reason: "UPSTREAM_UNAVAILABLE" },
  { status: 400, reason: "UPSTREAM_REJECTED" },
  { status: 401, reason: "UPSTREAM_CREDENTIAL", kind: "credential" },
  { status: 402, reason: "UPSTREAM_CREDENTIAL", kind: "forbidden" },
  { status: 403, reason: "UPSTREAM_CREDENTIAL", kind: "forbidden" },
  { status: 413, reason: "BODY_TOO_LARGE" },
  { status: 413, message: LONG, reason: "CONTEXT_TOO_LONG" },
  { status: 422, reason: "UPSTREAM_REJECTED" },
  { status: 429, reason: "UPSTREAM_RATE_LIMITED" },
  { status: 500, reason: "UPSTREAM_FAILED" },
  { status: 503, reason: "UPSTREAM_UNAVAILABLE" },
  { status: 504, reason: "UPSTREAM_TIMEOUT" },
  { status: 529, reason: "UPSTREAM_UNAVAILABLE" },
])("$status $name: $reason", ({ status, name = "", message = "m", reason, kind }) => {
  const headers = { "x-amzn-errortype": name, "retry-after": "3" };
  const error = decodeError(status, headers, Buffer.from(JSON.stringify({ message })));
  expect(error.reason).toBe(`ERROR_REASON_${reason}`);
  if (kind !== undefined) expect(error.cause).toMatchObject({ kind });
  const waits = reason === "UPSTREAM_RATE_LIMITED" || reason === "UPSTREAM_UNAVAILABLE";
  expect(error.retryAfterMs).toBe(waits ? 3_000 : undefined);
});
