/** Errors: what an upstream's mean for our client, and ours in Google's envelope. */
import { expect, test } from "vitest";
import { GatewayError, type ReasonName } from "../../../src/base/errors.js";
import type { RefusalKind } from "../../../src/wire/error/upstream-refusal.js";
import { wire } from "../../../src/wire/gemini/index.js";

const says = (status: string, message = "m", details: object[] = []): object => ({
  error: { code: 1, message, status, details },
});

const INVALID = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" };

test.each<{ name: string; status: number; body: unknown; reason: string; kind?: RefusalKind }>([
  {
    name: "a bad key",
    status: 400,
    body: says("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [INVALID]),
    reason: "UPSTREAM_CREDENTIAL",
    kind: "credential",
  },
  { name: "no key", status: 401, body: says("UNAUTHENTICATED"), reason: "UPSTREAM_CREDENTIAL", kind: "credential" },
  {
    name: "a leaked key",
    status: 403,
    body: says("PERMISSION_DENIED", "Your API key was reported as leaked."),
    reason: "UPSTREAM_CREDENTIAL",
    kind: "forbidden",
  },
  {
    name: "no funds in words alone",
    status: 429,
    body: says("RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
    reason: "UPSTREAM_RATE_LIMITED",
    kind: "rate",
  },
  { name: "a wrong request", status: 400, body: says("INVALID_ARGUMENT"), reason: "UPSTREAM_REJECTED" },
  {
    name: "a long prompt",
    status: 400,
    body: says("INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (5)."),
    reason: "CONTEXT_TOO_LONG",
  },
  { name: "no such model", status: 404, body: says("NOT_FOUND"), reason: "UPSTREAM_FAILED", kind: "model" },
  { name: "a wrong address", status: 404, body: "<html>404</html>", reason: "UPSTREAM_FAILED" },
  { name: "a large body", status: 413, body: "", reason: "BODY_TOO_LARGE" },
  { name: "a rate limit", status: 429, body: says("RESOURCE_EXHAUSTED"), reason: "UPSTREAM_RATE_LIMITED" },
  { name: "overload", status: 503, body: says("UNAVAILABLE"), reason: "UPSTREAM_UNAVAILABLE" },
  { name: "slowness", status: 504, body: says("DEADLINE_EXCEEDED"), reason: "UPSTREAM_TIMEOUT" },
  { name: "a failure", status: 500, body: says("INTERNAL"), reason: "UPSTREAM_FAILED" },
  { name: "a page", status: 502, body: "<!doctype html><p>secret.google.com", reason: "UPSTREAM_FAILED" },
])("an upstream's $name", ({ status, body, reason, kind }) => {
  for (const told of [body, [body]]) {
    const text = typeof told === "string" ? told : JSON.stringify(told);
    const error = wire.decodeError(status, {}, Buffer.from(text));
    expect(error.reason).toBe(`ERROR_REASON_${reason}`);
    if (kind !== undefined) expect(error.cause).toMatchObject({ kind });
    expect(error.message).not.toMatch(/google\.com|html/);
  }
});

test("the field that is wrong and the upstream's words are told, its secrets are not", () => {
  const body = says("INVALID_ARGUMENT", "Bad key AIzaSyA-1234567890abcdef at https://x.googleapis.com/v1", [
    { fieldViolations: [{ field: "contents[0].parts", description: "d" }] },
  ]);
  const error = wire.decodeError(400, {}, Buffer.from(JSON.stringify(body)));
  expect(error.param).toBe("contents[0].parts");
  expect(error.message).toBe("Bad key [redacted] at [redacted]");
});

test.each<{ reason: ReasonName; metadata: Record<string, string>; status: number; name: string; details: object[] }>([
  { reason: "ERROR_REASON_KEY_MISSING", metadata: {}, status: 401, name: "UNAUTHENTICATED", details: [] },
  {
    reason: "ERROR_REASON_PARAMETER_MISSING",
    metadata: { param: "contents" },
    status: 400,
    name: "INVALID_ARGUMENT",
    details: [{ fieldViolations: [{ field: "contents", description: "Missing required parameter: 'contents'." }] }],
  },
  { reason: "ERROR_REASON_BALANCE_TOO_LOW", metadata: {}, status: 402, name: "FAILED_PRECONDITION", details: [] },
  { reason: "ERROR_REASON_SCOPE_MISSING", metadata: {}, status: 403, name: "PERMISSION_DENIED", details: [] },
  {
    reason: "ERROR_REASON_RATE_LIMITED",
    metadata: { reset_ms: "1200" },
    status: 429,
    name: "RESOURCE_EXHAUSTED",
    details: [{ retryDelay: "1.2s" }],
  },
  { reason: "ERROR_REASON_INTERNAL", metadata: {}, status: 500, name: "INTERNAL", details: [] },
  { reason: "ERROR_REASON_UPSTREAM_FAILED", metadata: {}, status: 502, name: "UNAVAILABLE", details: [] },
  { reason: "ERROR_REASON_UPSTREAM_TIMEOUT", metadata: {}, status: 504, name: "DEADLINE_EXCEEDED", details: [] },
])("$reason has Google's status $name", ({ reason, metadata, status, name, details }) => {
  const told = wire.encodeError(new GatewayError(reason, metadata));
  expect(told.status).toBe(status);
  const { error } = JSON.parse(told.body.toString()) as { error: { details: object[] } };
  expect(error).toMatchObject({ code: status, status: name, message: expect.stringMatching(/./) });
  const info = { reason: reason.slice("ERROR_REASON_".length), domain: "tollgate" };
  expect(error.details).toMatchObject([info, ...details]);
});
