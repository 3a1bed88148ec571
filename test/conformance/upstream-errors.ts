/** Errors as upstreams tell them, each with what it means: the table of what may go wrong behind the gateway. */

/** What an error means to our client, whichever format it speaks. */
export type Meaning =
  | "rejected"
  | "context"
  | "too large"
  | "credential"
  | "rate limit"
  | "unavailable"
  | "timeout"
  | "failed";

export interface UpstreamError {
  readonly family: "openai" | "anthropic" | "gemini";
  readonly name: string;
  readonly status: number;
  readonly body: string | object;
  readonly headers?: Readonly<Record<string, string>>;
  /** True where the body is a stream that begins well enough for a status of 200. */
  readonly isStream?: boolean;
  readonly means: Meaning;
  /** The parameter that the client must be told. */
  readonly param?: string;
  /** The upstream's own code, where OpenAI's clients must be told it. */
  readonly code?: string;
  /** How long the client must be told to wait. */
  readonly waitMs?: number;
  /** Words that must reach the client. */
  readonly says?: string;
}

/** Credentials and addresses of the gateway's own, which no client may see. */
export const SECRET = "sk-upstream-secret-of-the-errors-0123456789";
const HTML = `<html><head><title>Bad</title></head><body>nginx ${SECRET} http://10.0.0.7:8080</body></html>`;

const openAi = (
  status: number,
  type: string | null,
  code: unknown,
  param: string | null = null,
  message = "Told.",
): Pick<UpstreamError, "family" | "status" | "body"> => ({
  family: "openai",
  status,
  body: { error: { message, type, param, code } },
});

const BAD = "invalid_request_error";
const CONTEXT =
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130211 tokens.";

function openAiRejection(code: string, param?: string): UpstreamError {
  const error = {
    ...openAi(400, BAD, code, param ?? null),
    name: code,
    means: "rejected" as const,
    code,
    says: "Told.",
  };
  return param === undefined ? error : { ...error, param };
}

const OPENAI: readonly UpstreamError[] = [
  { ...openAi(400, BAD, null), name: "a body that cannot be read", means: "rejected", says: "Told." },
  ...["unsupported_parameter", "empty_array", "unsupported_value", "unknown_parameter"].map((code) =>
    openAiRejection(code, "messages[0].x"),
  ),
  ...["missing_required_parameter", "invalid_type", "invalid_value"].map((code) => openAiRejection(code, "model")),
  ...["string_above_max_length", "invalid_image_url", "content_policy_violation"].map((code) => openAiRejection(code)),
  {
    ...openAi(400, BAD, "context_length_exceeded", "messages", CONTEXT),
    name: "context_length_exceeded",
    means: "context",
    param: "messages",
    code: "context_length_exceeded",
  },
  {
    ...openAi(401, BAD, "invalid_api_key", null, `Incorrect API key: ${SECRET}.`),
    name: "a wrong key",
    means: "credential",
  },
  { ...openAi(401, BAD, null), name: "a missing key", means: "credential" },
  {
    ...openAi(403, "request_forbidden", "unsupported_country_region_territory"),
    name: "a country",
    means: "credential",
  },
  { ...openAi(404, BAD, "model_not_found"), name: "a model that is unknown", means: "failed" },
  { ...openAi(404, BAD, "unknown_url"), name: "an address that is unknown", means: "failed" },
  { ...openAi(409, BAD, null), name: "a conflict", means: "failed" },
  { ...openAi(413, BAD, null), name: "a body that is too large", means: "too large" },
  { ...openAi(422, BAD, null), name: "a body that cannot be processed", means: "rejected", says: "Told." },
  { ...openAi(429, "insufficient_quota", "insufficient_quota"), name: "an account without funds", means: "credential" },
  {
    ...openAi(429, "tokens", "rate_limit_exceeded", null, "Limit reached. Please try again in 1.2s."),
    name: "a rate limit",
    headers: { "retry-after-ms": "1200", "retry-after": "2" },
    means: "rate limit",
    waitMs: 1200,
  },
  { ...openAi(500, "server_error", null), name: "a fault", means: "failed" },
  { ...openAi(502, "server_error", null), name: "a bad gateway", means: "failed" },
  { ...openAi(503, "service_unavailable_error", "server_error"), name: "an overload", means: "unavailable" },
  { ...openAi(504, "server_error", null), name: "a time that ran out", means: "timeout" },
  { family: "openai", name: "HTML with 502", status: 502, body: HTML, means: "failed" },
  { family: "openai", name: "HTML with 503", status: 503, body: HTML, means: "unavailable" },
  { family: "openai", name: "HTML with 401", status: 401, body: HTML, means: "credential" },
  { family: "openai", name: "HTML with 200", status: 200, body: HTML, means: "failed" },
  { family: "openai", name: "no body with 500", status: 500, body: "", means: "failed" },
  { family: "openai", name: "no body with 200", status: 200, body: "", means: "failed" },
  { family: "openai", name: "an empty object with 200", status: 200, body: {}, means: "failed" },
  {
    family: "openai",
    name: "vLLM's flat form",
    status: 400,
    body: { object: "error", message: CONTEXT, type: "BadRequestError", param: null, code: 400 },
    means: "context",
    param: "messages",
  },
  {
    family: "openai",
    name: "FastAPI's detail",
    status: 422,
    body: { detail: [{ type: "missing", loc: ["body", "messages"], msg: "Field required" }] },
    means: "rejected",
    says: "Field required",
  },
  { ...openAi(429, null, 429), name: "OpenRouter's number for a code", means: "rate limit" },
  {
    ...openAi(402, "unknown_error", "invalid_request_error", null, "Insufficient Balance"),
    name: "DeepSeek's empty account",
    means: "credential",
  },
  {
    family: "openai",
    name: "an error with 200",
    status: 200,
    body: { error: { message: "Told.", code: 503, type: "overloaded" } },
    means: "unavailable",
  },
];

const anthropic = (
  status: number,
  type: string,
  message = "Told.",
): Pick<UpstreamError, "family" | "status" | "body"> => ({
  family: "anthropic",
  status,
  body: { type: "error", error: { type, message }, request_id: "req_of_the_upstream" },
});

const ANTHROPIC: readonly UpstreamError[] = [
  {
    ...anthropic(400, BAD, "messages.0.content: text content blocks must be non-empty"),
    name: "a wrong request",
    means: "rejected",
    param: "messages.0.content",
    says: "text content blocks must be non-empty",
  },
  {
    ...anthropic(400, BAD, "prompt is too long: 210000 tokens > 200000 maximum"),
    name: "a prompt that is too long",
    means: "context",
    param: "messages",
    says: "210000",
  },
  { ...anthropic(400, BAD, "Your credit balance is too low."), name: "an account without credit", means: "credential" },
  {
    ...anthropic(401, "authentication_error", `invalid x-api-key ${SECRET}`),
    name: "a wrong key",
    means: "credential",
  },
  { ...anthropic(402, "billing_error"), name: "a payment", means: "credential" },
  { ...anthropic(403, "permission_error"), name: "a permission", means: "credential" },
  { ...anthropic(404, "not_found_error", "model: claude-9"), name: "a model that is unknown", means: "failed" },
  { ...anthropic(409, "conflict_error"), name: "a conflict", means: "failed" },
  { ...anthropic(413, "request_too_large"), name: "a body that is too large", means: "too large" },
  {
    ...anthropic(429, "rate_limit_error"),
    name: "a rate limit",
    headers: { "retry-after": "3" },
    means: "rate limit",
    waitMs: 3000,
  },
  {
    family: "anthropic",
    name: "a limit of what may be spent",
    status: 429,
    body: {
      type: "error",
      error: { type: "rate_limit_error", message: "Told.", details: { error_code: "contract_spend_limit_reached" } },
    },
    means: "credential",
  },
  { ...anthropic(500, "api_error"), name: "a fault", means: "failed" },
  { ...anthropic(504, "timeout_error"), name: "a time that ran out", means: "timeout" },
  { ...anthropic(529, "overloaded_error", "Overloaded"), name: "an overload", means: "unavailable" },
  { family: "anthropic", name: "HTML with 413", status: 413, body: HTML, means: "too large" },
  { family: "anthropic", name: "HTML with 502", status: 502, body: HTML, means: "failed" },
  { family: "anthropic", name: "HTML with 200", status: 200, body: HTML, means: "failed" },
  ...(
    [
      ["overloaded_error", "unavailable"],
      ["rate_limit_error", "rate limit"],
      ["api_error", "failed"],
      ["authentication_error", "credential"],
      ["invalid_request_error", "rejected"],
      ["timeout_error", "timeout"],
    ] as const
  ).map(([type, means]): UpstreamError => ({
    family: "anthropic",
    name: `${type} as the first event`,
    status: 200,
    isStream: true,
    body: `event: error\ndata: {"type":"error","error":{"type":"${type}","message":"Told."}}\n\n`,
    means,
  })),
];

const google = (
  status: number,
  name: string,
  details: object[] = [],
  message = "Told.",
): Pick<UpstreamError, "family" | "status" | "body"> => ({
  family: "gemini",
  status,
  body: { error: { code: status, message, status: name, details } },
});

const rpc = (type: string, fields: object): object => ({
  "@type": `type.googleapis.com/google.rpc.${type}`,
  ...fields,
});

const GEMINI: readonly UpstreamError[] = [
  { ...google(400, "INVALID_ARGUMENT"), name: "a wrong argument", means: "rejected", says: "Told." },
  { ...google(400, "FAILED_PRECONDITION"), name: "a precondition", means: "rejected", says: "Told." },
  {
    ...google(400, "INVALID_ARGUMENT", [rpc("BadRequest", { fieldViolations: [{ field: "contents[0].x" }] })]),
    name: "a field that is named",
    means: "rejected",
    param: "contents[0].x",
  },
  {
    ...google(
      400,
      "INVALID_ARGUMENT",
      [rpc("ErrorInfo", { reason: "API_KEY_INVALID" })],
      `API key not valid: ${SECRET}`,
    ),
    name: "a wrong key, which Google calls a wrong argument",
    means: "credential",
  },
  {
    ...google(
      400,
      "INVALID_ARGUMENT",
      [],
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    name: "a prompt that is too long",
    means: "context",
    param: "contents",
  },
  { ...google(401, "UNAUTHENTICATED"), name: "no credential", means: "credential" },
  { ...google(403, "PERMISSION_DENIED"), name: "a permission", means: "credential" },
  { ...google(404, "NOT_FOUND"), name: "a model that is unknown", means: "failed" },
  {
    ...google(429, "RESOURCE_EXHAUSTED", [rpc("RetryInfo", { retryDelay: "34.4s" })]),
    name: "a rate limit",
    means: "rate limit",
    waitMs: 34_400,
  },
  { ...google(499, "CANCELLED"), name: "a cancellation", means: "failed" },
  { ...google(500, "INTERNAL"), name: "a fault", means: "failed" },
  { ...google(503, "UNAVAILABLE"), name: "an overload", means: "unavailable" },
  { ...google(504, "DEADLINE_EXCEEDED"), name: "a time that ran out", means: "timeout" },
  {
    family: "gemini",
    name: "a list of one",
    status: 429,
    body: JSON.stringify([{ error: { code: 429, message: "Told.", status: "RESOURCE_EXHAUSTED" } }]),
    means: "rate limit",
  },
  { family: "gemini", name: "HTML with 502", status: 502, body: HTML, means: "failed" },
  { family: "gemini", name: "HTML with 404", status: 404, body: HTML, means: "failed" },
  {
    family: "gemini",
    name: "an overload as the first event",
    status: 200,
    isStream: true,
    body: `data: {"error":{"code":503,"message":"Told.","status":"UNAVAILABLE"}}\r\n\r\n`,
    means: "unavailable",
  },
];

/** An error as the first event of a stream of OpenAI's, in the forms that its followers have too. */
function openAiEvent(name: string, event: object, means: Meaning, param?: string): UpstreamError {
  const body = `data: ${JSON.stringify(event)}\n\n`;
  const title = `an error as the first event, ${name}`;
  const error = { family: "openai" as const, name: title, status: 200, isStream: true, body, means };
  return param === undefined ? error : { ...error, param };
}

const OPENAI_EVENTS: readonly UpstreamError[] = [
  openAiEvent("an object", { error: { message: "Told.", type: "server_error", param: null, code: null } }, "failed"),
  openAiEvent("a bare string", { error: "Told." }, "failed"),
  openAiEvent("no choices", { choices: [], error: { message: "Told.", code: "rate_limit_exceeded" } }, "rate limit"),
  openAiEvent(
    "a context",
    { error: { message: CONTEXT, type: BAD, param: "messages", code: "context_length_exceeded" } },
    "context",
    "messages",
  ),
  openAiEvent("a reason", { choices: [{ index: 0, delta: {}, finish_reason: "error" }] }, "failed"),
];

export const upstreamErrors: readonly UpstreamError[] = [...OPENAI, ...OPENAI_EVENTS, ...ANTHROPIC, ...GEMINI];
