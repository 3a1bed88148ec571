/** Every refusal in headers and envelope, and what never becomes a header. */
import { describe, expect, test } from "vitest";
import { GatewayError, isReasonName, REASONS } from "../../src/base/errors.js";
import { errorReply } from "../../src/http/error-reply.js";
import { answerHeaders, metadataValue } from "../../src/http/headers.js";
import { toyFormat } from "../support/toy-format.js";

const NAMES = Object.keys(REASONS).filter(isReasonName);

test.each(NAMES)("%s has its status, an envelope of four keys and says whether to retry", (reason) => {
  const { status, headers, body } = errorReply(new GatewayError(reason), "req_1", undefined);
  expect(status).toBe(REASONS[reason].http);
  expect(headers["x-should-retry"]).toBe(String(REASONS[reason].retry));
  expect(headers["x-request-id"]).toBe("req_1");
  expect(headers["www-authenticate"]).toBe(status === 401 ? "Bearer" : undefined);
  const { error } = JSON.parse(body.toString());
  expect(Object.keys(error)).toEqual(["message", "type", "param", "code"]);
});

test.each([
  { waitMs: "1", seconds: "1", ms: "1" },
  { waitMs: "1000", seconds: "1", ms: "1000" },
  { waitMs: "1000.2", seconds: "2", ms: "1001" },
  { waitMs: "0", seconds: "0", ms: "0" },
  { waitMs: "soon", seconds: undefined, ms: undefined },
  { waitMs: "-5", seconds: undefined, ms: undefined },
])("a wait of $waitMs ms is told as $seconds s", ({ waitMs, seconds, ms }) => {
  const error = new GatewayError("ERROR_REASON_RATE_LIMITED", { reset_ms: waitMs });
  const { headers } = errorReply(error, "req_1", undefined);
  expect(headers["retry-after"]).toBe(seconds);
  expect(headers["retry-after-ms"]).toBe(ms);
});

test("no wait is told where waiting does not help", () => {
  const error = new GatewayError("ERROR_REASON_BALANCE_TOO_LOW", { reset_ms: "1000" });
  expect(errorReply(error, "req_1", undefined).headers["retry-after"]).toBeUndefined();
});

test("who is refused because the ledger is away is told when to come again", () => {
  const { headers } = errorReply(new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE"), "req_1", undefined);
  expect(headers).toMatchObject({ "retry-after": "1", "retry-after-ms": "1000" });
});

test("all six facts of a rate limit become headers, and only as far as they are known", () => {
  const known = {
    limit_requests: "60",
    remaining_requests: "0",
    reset_requests: "1s",
    limit_tokens: "1000",
    remaining_tokens: "1",
    reset_tokens: "2s\r\nset-cookie: a=b",
  };
  const { headers } = errorReply(new GatewayError("ERROR_REASON_RATE_LIMITED", known), "req_1", undefined);
  expect(headers).toMatchObject({
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-limit-tokens": "1000",
    "x-ratelimit-remaining-tokens": "1",
  });
  expect(headers).not.toHaveProperty("x-ratelimit-reset-tokens");
});

test("a format has its own envelope, status and headers", () => {
  const { status, headers, body } = errorReply(new GatewayError("ERROR_REASON_OVERLOADED"), "req_1", toyFormat);
  expect(status).toBe(529);
  expect(headers["toy-id"]).toBe("req_1");
  expect(JSON.parse(body.toString())).toMatchObject({ broken: "overloaded" });
});

describe("a header of the service's", () => {
  test.each([
    { name: "x-request-id", value: "req_1", kept: true },
    { name: "retry-after-ms", value: "10", kept: true },
    { name: "x-empty", value: "", kept: true },
    { name: "x-cr", value: "a\rb", kept: false },
    { name: "x-lf", value: "a\nb", kept: false },
    { name: "x-nul", value: "a\0b", kept: false },
    { name: "x-latin", value: "é", kept: false },
    { name: "x-long", value: "a".repeat(5_000), kept: false },
    { name: "x-bad name", value: "a", kept: false },
    { name: "x-bad\r\nset-cookie", value: "a", kept: false },
    { name: "content-length", value: "5", kept: false },
    { name: "transfer-encoding", value: "chunked", kept: false },
    { name: "set-cookie", value: "a=b", kept: false },
  ])("$name = $value is kept: $kept", ({ name, value, kept }) => {
    expect(answerHeaders({ [name]: value })).toEqual(kept ? { [name]: value } : {});
  });
});

test.each([
  { given: "Bearer sk-1", want: "Bearer sk-1" },
  { given: "Bearer sk-\u00fc\r\n", want: "Bearer sk-???" },
])("a credential goes on as printable text: $want", ({ given, want }) => {
  expect(metadataValue(given)).toBe(want);
});
