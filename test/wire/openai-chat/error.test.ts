/** Errors: what an upstream's refusal means, what of it a client may read, and our own envelope. */
import { describe, expect, test } from "vitest";
import { type ErrorMetadata, GatewayError, type ReasonName } from "../../../src/base/errors.js";
import type { RefusalKind } from "../../../src/wire/error/upstream-refusal.js";
import { wire } from "../../../src/wire/openai-chat/index.js";

interface Case {
  readonly name: string;
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
  readonly reason: string;
  readonly kind?: RefusalKind;
  readonly metadata?: ErrorMetadata;
}

function decode(status: number, body: unknown, headers: Record<string, string> = {}): GatewayError {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return wire.decodeError(status, headers, Buffer.from(text));
}

function envelope(message: string, fields: object = {}): object {
  return { error: { message, type: "invalid_request_error", param: null, code: null, ...fields } };
}

describe("what an upstream's error means", () => {
  test.each<Case>([
    {
      name: "a wrong parameter",
      status: 400,
      body: envelope("Bad n.", { param: "n", code: "invalid_value" }),
      reason: "UPSTREAM_REJECTED",
      metadata: { message: "Bad n.", param: "n", code: "invalid_value" },
    },
    {
      name: "FastAPI's detail",
      status: 422,
      body: { detail: [{ loc: ["body", "n"], msg: "too large" }] },
      reason: "UPSTREAM_REJECTED",
      metadata: { message: "body.n: too large" },
    },
    {
      name: "vLLM's flat form",
      status: 400,
      body: { object: "error", message: "No.", type: "BadRequestError", code: 400 },
      reason: "UPSTREAM_REJECTED",
      metadata: { message: "No." },
    },
    {
      name: "Google's list",
      status: 400,
      body: [{ error: { code: 400, message: "No.", status: "INVALID_ARGUMENT" } }],
      reason: "UPSTREAM_REJECTED",
      metadata: { message: "No." },
    },
    {
      name: "a bare string",
      status: 400,
      body: { error: "No." },
      reason: "UPSTREAM_REJECTED",
      metadata: { message: "No." },
    },
    { name: "nothing", status: 400, body: "", reason: "UPSTREAM_REJECTED", metadata: {} },
    {
      name: "too long, by its code",
      status: 400,
      body: envelope("Long.", { code: "context_length_exceeded", param: "messages" }),
      reason: "CONTEXT_TOO_LONG",
      metadata: { message: "Long.", param: "messages" },
    },
    {
      name: "too long, by its words",
      status: 400,
      body: envelope("This model's maximum context length is 8192 tokens."),
      reason: "CONTEXT_TOO_LONG",
    },
    {
      name: "a model that it does not have",
      status: 404,
      body: envelope("No model.", { code: "model_not_found" }),
      reason: "UPSTREAM_FAILED",
      kind: "model",
      metadata: { problem: "it does not have the model" },
    },
    {
      name: "an address that it does not have",
      status: 404,
      body: envelope("Unknown URL", { code: "unknown_url" }),
      reason: "UPSTREAM_FAILED",
    },
    { name: "a body too large", status: 413, body: "<html>", reason: "BODY_TOO_LARGE" },
    {
      name: "our key",
      status: 401,
      body: envelope("Incorrect API key: sk-abcdef123", { code: "invalid_api_key" }),
      reason: "UPSTREAM_CREDENTIAL",
      kind: "credential",
      metadata: { problem: "its credential was refused" },
    },
    {
      name: "our key's rights",
      status: 403,
      body: "",
      reason: "UPSTREAM_CREDENTIAL",
      kind: "forbidden",
      metadata: { problem: "the request was refused with status 403" },
    },
    {
      name: "our key, as Google says it",
      status: 400,
      body: [{ error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT" } }],
      reason: "UPSTREAM_CREDENTIAL",
      kind: "forbidden",
      metadata: { problem: "the request was refused with status 400" },
    },
    {
      name: "our money",
      status: 402,
      body: envelope("Insufficient Balance"),
      reason: "UPSTREAM_CREDENTIAL",
      kind: "forbidden",
      metadata: { problem: "the request was refused with status 402" },
    },
    {
      name: "our money, as OpenAI says it",
      status: 429,
      body: envelope("You exceeded your quota", { type: "insufficient_quota", code: "insufficient_quota" }),
      reason: "UPSTREAM_CREDENTIAL",
      kind: "no_funds",
      metadata: { problem: "the operator's account there has no funds" },
    },
    {
      name: "its limit",
      status: 429,
      headers: { "retry-after-ms": "1500", "retry-after": "9" },
      body: envelope("Slow down"),
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: { retry_after_ms: "1500" },
    },
    {
      name: "its limit, in seconds",
      status: 429,
      headers: { "retry-after": "1.5" },
      body: "",
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: { retry_after_ms: "1500" },
    },
    {
      name: "its limit, until a time of its clock",
      status: 429,
      headers: { "retry-after": "Wed, 21 Oct 2026 07:28:10 GMT", date: "Wed, 21 Oct 2026 07:28:00 GMT" },
      body: "",
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: { retry_after_ms: "10000" },
    },
    {
      name: "its limit, in words",
      status: 429,
      body: envelope("Please try again in 1.2s."),
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: { retry_after_ms: "1200" },
    },
    {
      name: "its limit, in a detail",
      status: 429,
      body: '[{"error":{"details":[{"retryDelay": "34.4s"}]}}]',
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: { retry_after_ms: "34400" },
    },
    {
      name: "its limit, for ages",
      status: 429,
      headers: { "retry-after": "999999999" },
      body: "",
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: { retry_after_ms: "2592000000" },
    },
    {
      name: "its limit, with no time",
      status: 429,
      headers: { "retry-after": "soon" },
      body: "",
      reason: "UPSTREAM_RATE_LIMITED",
      metadata: {},
    },
    { name: "its time", status: 504, body: "<html>Gateway</html>", reason: "UPSTREAM_TIMEOUT" },
    { name: "its patience", status: 408, body: "", reason: "UPSTREAM_TIMEOUT" },
    { name: "its absence", status: 503, body: "", reason: "UPSTREAM_UNAVAILABLE" },
    { name: "its load", status: 529, body: "", reason: "UPSTREAM_UNAVAILABLE" },
    {
      name: "its fault",
      status: 500,
      body: envelope("stack trace", { type: "server_error" }),
      reason: "UPSTREAM_FAILED",
      metadata: { problem: "it answered with status 500" },
    },
    {
      name: "an odd status",
      status: 302,
      body: "",
      reason: "UPSTREAM_FAILED",
      metadata: { problem: "it answered with status 302" },
    },
  ])("$name", ({ status, headers, body, reason, kind, metadata }) => {
    const error = decode(status, body, headers);
    expect(error.reason).toBe(`ERROR_REASON_${reason}`);
    if (kind !== undefined) expect(error.cause).toMatchObject({ kind });
    if (metadata !== undefined) expect(error.metadata).toEqual(metadata);
  });
});

describe("what a client never reads", () => {
  test.each([
    ["a key", "Key sk-proj-abc123DEF456 is bad", "Key [redacted] is bad"],
    ["a masked key", "Key sk-abc*****xyz is bad", "Key [redacted] is bad"],
    ["a header", "Got Authorization: Bearer abc.def.ghi here", "Got Authorization: [redacted] here"],
    ["an address", "See https://internal.example.com:8443/v1?key=1 for it", "See [redacted] for it"],
    ["a host", "upstream api.example.com refused", "upstream [redacted] refused"],
    ["a number of a host", "dial 10.0.0.7:8080 failed", "dial [redacted] failed"],
    ["an organisation", "in organization org-AbCdEfGh12345 on tokens", "in organization [redacted] on tokens"],
  ])("%s", (_name, said, want) => {
    expect(decode(400, envelope(said)).message).toBe(want);
  });

  test("HTML, or more than it can read", () => {
    expect(decode(400, "<html><body>nginx</body></html>").message).toBe(
      "The model's upstream refused the request as invalid.",
    );
    expect(decode(400, envelope("<!DOCTYPE html><title>x")).metadata).toEqual({});
    expect(decode(400, envelope("long ".repeat(10_000))).message.length).toBeLessThanOrEqual(2000);
    const odd = envelope("x", { param: "https://internal.example.com", code: "a".repeat(300) });
    expect(decode(400, odd).metadata).toEqual({ message: "x" });
  });

  test("what an upstream says of its own failures", () => {
    for (const status of [401, 403, 402, 429, 500, 502, 503, 504]) {
      const { message, metadata } = decode(status, envelope("SECRET", { code: "SECRET" }));
      expect(message + JSON.stringify(metadata)).not.toContain("SECRET");
    }
  });
});

describe("our own refusals", () => {
  test.each<[ReasonName, ErrorMetadata, object]>([
    [
      "ERROR_REASON_PARAMETER_INVALID",
      { param: "n", problem: "no" },
      { status: 400, type: "invalid_request_error", param: "n", code: "invalid_value" },
    ],
    [
      "ERROR_REASON_KEY_MISSING",
      {},
      { status: 401, type: "invalid_request_error", param: null, code: "invalid_api_key" },
    ],
    [
      "ERROR_REASON_BALANCE_TOO_LOW",
      {},
      { status: 402, type: "insufficient_quota", param: null, code: "insufficient_balance" },
    ],
    [
      "ERROR_REASON_MODEL_UNKNOWN",
      { model: "x" },
      { status: 404, type: "invalid_request_error", param: "model", code: "model_not_found" },
    ],
    [
      "ERROR_REASON_RATE_LIMITED",
      { limit: "tokens_per_minute" },
      { status: 429, type: "tokens", param: null, code: "rate_limit_exceeded" },
    ],
  ])("%s has four keys", (reason, metadata, envelope) => {
    const { status, ...fields }: { readonly status?: number } = envelope;
    const error = new GatewayError(reason, metadata);
    const answer = wire.encodeError(error);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toEqual({ error: { message: error.message, ...fields } });
  });
});
