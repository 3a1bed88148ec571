/** The rows of the error table: how each is reached, and what each edge says of it. */
import { status } from "@grpc/grpc-js";
import OpenAI from "openai";
import { script } from "../../support/fake-upstream.js";
import { says } from "../../support/world.js";

/** One row of the error table: how to reach it, and what each edge says. */
export interface Row {
  readonly name: string;
  /** The body; a key of the world that asks; and what stands around them. */
  readonly body?: unknown;
  readonly key?: string;
  readonly http: number;
  readonly type: string;
  readonly code: string;
  readonly param?: string;
  readonly grpc: status;
  readonly reason: string;
  readonly retry: boolean;
  readonly thrown?: new (...args: never[]) => Error;
}

export const chat = (content: string, more: object = {}): object => ({
  model: "fake-1",
  messages: says(content),
  ...more,
});
const invalid = {
  http: 400,
  type: "invalid_request_error",
  grpc: status.INVALID_ARGUMENT,
  retry: false,
  thrown: OpenAI.BadRequestError,
};
const noKey = {
  http: 401,
  type: "invalid_request_error",
  code: "invalid_api_key",
  grpc: status.UNAUTHENTICATED,
  retry: false,
  thrown: OpenAI.AuthenticationError,
};
const noMoney = {
  http: 402,
  type: "insufficient_quota",
  grpc: status.FAILED_PRECONDITION,
  retry: false,
  thrown: OpenAI.APIError,
};
const forbidden = {
  http: 403,
  type: "permission_error",
  grpc: status.PERMISSION_DENIED,
  retry: false,
  thrown: OpenAI.PermissionDeniedError,
};
const tooMany = {
  http: 429,
  code: "rate_limit_exceeded",
  grpc: status.RESOURCE_EXHAUSTED,
  retry: true,
  thrown: OpenAI.RateLimitError,
};
const serverError = { type: "server_error", retry: true, thrown: OpenAI.InternalServerError };
const upstream = {
  ...serverError,
  http: 502,
  code: "upstream_error",
  grpc: status.UNAVAILABLE,
  reason: "UPSTREAM_FAILED",
};

/** A retry waits for what the upstream asks, which keeps the suite quick. */
const AT_ONCE = { "retry-after-ms": "1" };

const refusal = (code: string): string =>
  JSON.stringify({ error: { message: "Told.", type: code, param: null, code } });

const CONTEXT = JSON.stringify({
  error: {
    message: "too long: 130211 tokens",
    type: "invalid_request_error",
    param: "messages",
    code: "context_length_exceeded",
  },
});

/** The one row that needs an upstream that was ejected before. */
export const NO_HEALTHY_UPSTREAM = "no healthy upstream";

export const ROWS: readonly Row[] = [
  {
    name: "a missing parameter",
    ...invalid,
    body: { model: "fake-1" },
    code: "missing_required_parameter",
    param: "messages",
    reason: "PARAMETER_MISSING",
  },
  {
    name: "a wrong parameter",
    ...invalid,
    body: chat("x", { n: 0 }),
    code: "invalid_value",
    param: "n",
    reason: "PARAMETER_INVALID",
  },
  {
    name: "a wrong role",
    ...invalid,
    body: { model: "fake-1", messages: [{ role: 7, content: "x" }] },
    code: "invalid_value",
    param: "messages[0].role",
    reason: "PARAMETER_INVALID",
  },
  {
    name: "a request the upstream refuses",
    ...invalid,
    body: chat(script({ status: 400 })),
    code: "fake",
    reason: "UPSTREAM_REJECTED",
  },
  {
    name: "an input longer than the model takes",
    ...invalid,
    body: chat(script({ status: 400, body: CONTEXT })),
    code: "context_length_exceeded",
    param: "messages",
    reason: "CONTEXT_TOO_LONG",
  },
  { name: "no key", ...noKey, body: chat("x"), key: "", reason: "KEY_MISSING" },
  { name: "an unknown key", ...noKey, body: chat("x"), key: "sk-nobody-has-this-key-1", reason: "KEY_INVALID" },
  { name: "an expired key", ...noKey, body: chat("x"), key: "expired", reason: "KEY_EXPIRED" },
  { name: "a revoked key", ...noKey, body: chat("x"), key: "revoked", reason: "KEY_REVOKED" },
  {
    name: "a balance that is too low",
    ...noMoney,
    body: chat("x"),
    key: "poor",
    code: "insufficient_balance",
    reason: "BALANCE_TOO_LOW",
  },
  {
    name: "a budget that is spent",
    ...noMoney,
    body: chat("x"),
    key: "budgeted",
    code: "budget_exceeded",
    reason: "BUDGET_EXCEEDED",
  },
  {
    name: "a budget of the account that is spent",
    ...noMoney,
    body: chat("x"),
    key: "frugal",
    code: "budget_exceeded",
    reason: "BUDGET_EXCEEDED",
  },
  {
    name: "a request that costs more than its account allows",
    ...noMoney,
    body: chat("x"),
    key: "careful",
    code: "budget_exceeded",
    reason: "BUDGET_EXCEEDED",
  },
  {
    name: "a request that costs too much",
    ...noMoney,
    body: chat("x"),
    key: "thrifty",
    code: "budget_exceeded",
    reason: "BUDGET_EXCEEDED",
  },
  {
    name: "a missing scope",
    ...forbidden,
    body: chat("x"),
    key: "scopeless",
    code: "scope_missing",
    reason: "SCOPE_MISSING",
  },
  {
    name: "a strange address",
    ...forbidden,
    body: chat("x"),
    key: "elsewhere",
    code: "address_not_allowed",
    reason: "ADDRESS_NOT_ALLOWED",
  },
  {
    name: "a model the key may not use",
    ...forbidden,
    body: chat("x"),
    key: "narrow",
    code: "model_not_allowed",
    param: "model",
    reason: "MODEL_NOT_ALLOWED",
  },
  {
    name: "a frozen account",
    ...forbidden,
    body: chat("x"),
    key: "frozen",
    code: "account_frozen",
    reason: "ACCOUNT_FROZEN",
  },
  {
    name: "an unknown model",
    http: 404,
    type: "invalid_request_error",
    grpc: status.NOT_FOUND,
    retry: false,
    thrown: OpenAI.NotFoundError,
    body: chat("x", { model: "gpt-9" }),
    code: "model_not_found",
    param: "model",
    reason: "MODEL_UNKNOWN",
  },
  { name: "requests of the key", ...tooMany, type: "requests", body: chat("x"), key: "hasty", reason: "RATE_LIMITED" },
  { name: "tokens of the key", ...tooMany, type: "tokens", body: chat("x"), key: "wordy", reason: "RATE_LIMITED" },
  {
    name: "the upstream's own limit",
    ...tooMany,
    type: "requests",
    body: chat(script({ status: 429, headers: AT_ONCE })),
    reason: "UPSTREAM_RATE_LIMITED",
  },
  { name: "an upstream that fails", ...upstream, body: chat(script({ status: 500, headers: AT_ONCE })) },
  {
    name: "an upstream that answers HTML",
    ...upstream,
    body: chat(script({ status: 500, headers: AT_ONCE, body: "<html>sk-upstream-secret-0123456789</html>" })),
  },
  { name: "an upstream that cannot be reached", ...upstream, body: chat("x", { model: "gone-1" }) },
  {
    name: "an upstream that is busy",
    ...serverError,
    http: 503,
    code: "upstream_unavailable",
    grpc: status.UNAVAILABLE,
    body: chat(script({ status: 503, headers: AT_ONCE })),
    reason: "UPSTREAM_UNAVAILABLE",
  },
  {
    name: "an upstream that gave up",
    ...serverError,
    http: 504,
    code: "upstream_timeout",
    grpc: status.DEADLINE_EXCEEDED,
    body: chat(script({ status: 504, headers: AT_ONCE })),
    reason: "UPSTREAM_TIMEOUT",
  },
  {
    name: "an upstream that does not have the model",
    ...upstream,
    body: chat(script({ status: 404, body: refusal("model_not_found") })),
  },
  {
    name: "an upstream that refuses our credential",
    ...upstream,
    code: "upstream_credential",
    reason: "UPSTREAM_CREDENTIAL",
    retry: false,
    body: chat(script({ status: 401 })),
  },
  {
    name: "an upstream where our account has no funds",
    ...upstream,
    code: "upstream_credential",
    reason: "UPSTREAM_CREDENTIAL",
    retry: false,
    body: chat(script({ status: 429, body: refusal("insufficient_quota") })),
  },
  {
    name: "an upstream that forbids the request",
    ...upstream,
    code: "upstream_credential",
    reason: "UPSTREAM_CREDENTIAL",
    retry: false,
    body: chat(script({ status: 403 })),
  },
  // The rows before it ejected that upstream.
  {
    name: NO_HEALTHY_UPSTREAM,
    ...serverError,
    http: 503,
    code: "upstream_unavailable",
    grpc: status.UNAVAILABLE,
    body: chat("x", { model: "gone-1" }),
    reason: "UPSTREAM_UNAVAILABLE",
  },
];
