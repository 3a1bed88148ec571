/** Errors: what an upstream's refusal means for our client, and how ours look in the wire's envelope. */
import { describe, expect, test } from "vitest";
import { GatewayError, REASONS, type ReasonName } from "../../../src/base/errors.js";
import { encodeErrorOf, wire } from "../../../src/wire/anthropic/index.js";
import { codeOf } from "../../../src/wire/error/code.js";

const envelope = (type: string, message: string, details?: object): Buffer =>
  Buffer.from(JSON.stringify({ type: "error", error: { type, message, details }, request_id: "req_up" }));

describe("an upstream's error", () => {
  test.each<{
    status: number;
    type: string;
    message?: string;
    details?: object;
    reason: string;
    kind?: string;
    metadata?: object;
  }>([
    {
      status: 400,
      type: "invalid_request_error",
      message: "messages.0: bad",
      reason: "UPSTREAM_REJECTED",
      metadata: { param: "messages.0" },
    },
    {
      status: 400,
      type: "invalid_request_error",
      message: "prompt is too long: 9 tokens > 8 maximum",
      reason: "CONTEXT_TOO_LONG",
    },
    {
      status: 400,
      type: "invalid_request_error",
      message: "Your credit balance is too low",
      reason: "UPSTREAM_CREDENTIAL",
      kind: "forbidden",
    },
    {
      status: 401,
      type: "authentication_error",
      message: "invalid x-api-key",
      reason: "UPSTREAM_CREDENTIAL",
      kind: "credential",
    },
    { status: 402, type: "billing_error", reason: "UPSTREAM_CREDENTIAL", kind: "no_funds" },
    { status: 403, type: "permission_error", reason: "UPSTREAM_CREDENTIAL", kind: "access" },
    { status: 404, type: "not_found_error", message: "model: x", reason: "UPSTREAM_FAILED", kind: "model" },
    { status: 404, type: "", reason: "UPSTREAM_FAILED" },
    { status: 413, type: "request_too_large", reason: "BODY_TOO_LARGE" },
    { status: 429, type: "rate_limit_error", reason: "UPSTREAM_RATE_LIMITED", metadata: { retry_after_ms: "7000" } },
    {
      status: 429,
      type: "rate_limit_error",
      details: { error_code: "enforced_spend_limit_reached" },
      reason: "UPSTREAM_CREDENTIAL",
      kind: "no_funds",
    },
    { status: 500, type: "api_error", reason: "UPSTREAM_FAILED" },
    { status: 504, type: "timeout_error", reason: "UPSTREAM_TIMEOUT" },
    { status: 529, type: "overloaded_error", reason: "UPSTREAM_UNAVAILABLE" },
  ])("$status $type $message", ({ status, type, message = "No.", details, reason, kind, metadata = {} }) => {
    const error = wire.decodeError(status, { "retry-after": "7" }, envelope(type, message, details));
    expect(error.reason).toBe(`ERROR_REASON_${reason}`);
    expect(error.metadata).toMatchObject(metadata);
    if (kind !== undefined) expect(error.cause).toMatchObject({ kind });
  });

  test("tells no client a key, an address or a page", () => {
    const secret = "sk-ant-api03-secretsecret";
    const refused = wire.decodeError(
      400,
      {},
      envelope("invalid_request_error", `bad ${secret} at https://api.anthropic.com/v1`),
    );
    expect(`${refused.message} ${JSON.stringify(refused.metadata)} ${String(refused.cause)}`).not.toMatch(
      /secret|https/,
    );
    const page = wire.decodeError(400, {}, Buffer.from("<html><body>nginx</body></html>"));
    expect(page.message).not.toMatch(/html|nginx/);
  });
});

describe("our own", () => {
  const WANT: Readonly<Record<number, readonly [number, string]>> = {
    400: [400, "invalid_request_error"],
    401: [401, "authentication_error"],
    402: [402, "billing_error"],
    403: [403, "permission_error"],
    404: [404, "not_found_error"],
    409: [409, "conflict_error"],
    410: [410, "not_found_error"],
    422: [422, "invalid_request_error"],
    426: [426, "invalid_request_error"],
    413: [413, "request_too_large"],
    429: [429, "rate_limit_error"],
    499: [499, "api_error"],
    500: [500, "api_error"],
    502: [502, "api_error"],
    503: [529, "overloaded_error"],
    504: [504, "timeout_error"],
  };

  test.each(Object.keys(REASONS) as ReasonName[])("%s", (reason) => {
    const error = new GatewayError(reason, { param: "p", model: "m" });
    const { status, body } = encodeErrorOf(error, "req_1");
    const told: unknown = JSON.parse(body.toString());
    const [wantStatus, type] = WANT[error.http] ?? [];
    expect(status).toBe(wantStatus);
    expect(told).toEqual({
      type: "error",
      error: {
        type,
        message: expect.stringMatching(/./),
        details: expect.objectContaining({ error_code: codeOf(error) }),
      },
      request_id: "req_1",
    });
  });

  test.each([
    { metadata: { actual: "9", limit: "8" }, want: "prompt is too long: 9 tokens > 8 maximum" },
    {
      metadata: { message: "prompt is too long: 7 tokens > 6 maximum" },
      want: "prompt is too long: 7 tokens > 6 maximum",
    },
    {
      metadata: { message: "The input token count (130) exceeds the maximum number of tokens allowed (100)." },
      want: "prompt is too long: 130 tokens > 100 maximum",
    },
    { metadata: { message: "Too much." }, want: "prompt is too long: Too much." },
  ])("a long input is told in the words that agents know: $want", ({ metadata, want }) => {
    const { body } = wire.encodeError(new GatewayError("ERROR_REASON_CONTEXT_TOO_LONG", metadata));
    expect(JSON.parse(body.toString())).toMatchObject({ error: { message: want }, request_id: null });
  });
});
