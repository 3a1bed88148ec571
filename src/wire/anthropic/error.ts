/** Errors, both directions: what an upstream's refusal means for our client, and our own in the wire's envelope. */
import type { GatewayError } from "../../base/errors.js";
import { objectOf, textOf } from "../json/value.js";
import { codeOf } from "../error/code.js";
import { contextMessage } from "../error/context-message.js";
import { redacted, toldName } from "../error/redact.js";
import {
  errorReader,
  type RefusalGrammar,
  type RefusalRow,
  rowsOf,
  type Said,
  toldRefusal,
} from "../error/upstream-refusal.js";
import type { WireError } from "../wire.js";

const OURS =
  /credit balance|insufficient[_ ](balance|funds|credits)|(invalid|incorrect) (x-)?api[- _]key|invalid bearer token/i;
/** An upstream names the parameter before its complaint, as in `messages.0.content: ...`. */
const NAMED_PARAM = /^([a-z_]+(?:\.[a-z0-9_]+){0,12}):\s/i;

/** The status that each kind of error has, which inside a stream is all there is. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
]);

/** Codes of the wire. Source: docs.claude.com/en/api/errors. */
const ROWS: readonly RefusalRow[] = [
  ...rowsOf("no_funds", ["billing_error"]),
  ...rowsOf("no_funds", [
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "linked_organization_spend_limit_reached",
  ]),
  ...rowsOf("credential", ["authentication_error"]),
  ...rowsOf("access", ["permission_error"]),
  ...rowsOf("model", ["not_found_error"], 404),
  // llama.cpp, on its address for this wire.
  ...rowsOf("context", ["exceed_context_size_error"]),
];

const GRAMMAR: RefusalGrammar = { rows: ROWS, ours: [OURS] };

export const decodeError = errorReader((body) => {
  const value = objectOf(body);
  return saidIn(value?.["error"] ?? value);
}, GRAMMAR);

/** What an error inside a stream, or inside an answer that says 200, means. */
export function decodeToldError(told: unknown): GatewayError {
  const status = STATUSES.get(toldName(objectOf(told)?.["type"])) ?? 500;
  return toldRefusal({ ...saidIn(told), status, waitMs: undefined }, GRAMMAR);
}

function saidIn(value: unknown): Said {
  const error = objectOf(value);
  const message = redacted(textOf(typeof value === "string" ? value : error?.["message"]));
  const code = toldName(objectOf(error?.["details"])?.["error_code"]);
  const param = NAMED_PARAM.exec(message)?.[1] ?? "";
  return { message, names: [toldName(error?.["type"]), code], param, code, contextParam: "messages" };
}

/** How the wire calls our refusals, by their HTTP status, and the status where it has one of its own. */
const TYPES: ReadonlyMap<number, { readonly type: string; readonly status?: number }> = new Map([
  [400, { type: "invalid_request_error" }],
  [401, { type: "authentication_error" }],
  [402, { type: "billing_error" }],
  [403, { type: "permission_error" }],
  [404, { type: "not_found_error" }],
  [409, { type: "conflict_error" }],
  [410, { type: "not_found_error" }],
  [422, { type: "invalid_request_error" }],
  [426, { type: "invalid_request_error" }],
  [413, { type: "request_too_large" }],
  [429, { type: "rate_limit_error" }],
  [503, { type: "overloaded_error", status: 529 }],
  [504, { type: "timeout_error" }],
]);

/** Our refusal in the client's envelope. `requestId` is null where nobody knows it. */
export function encodeError(error: GatewayError, requestId: string | null = null): WireError {
  const status = TYPES.get(error.http)?.status ?? error.http;
  return { status, body: Buffer.from(JSON.stringify({ ...envelope(error), request_id: requestId })) };
}

/** The data of an error inside a stream. */
export function errorText(error: GatewayError): string {
  return JSON.stringify({ ...envelope(error), request_id: null });
}

function envelope(error: GatewayError): { readonly type: "error"; readonly error: object } {
  const { param, metadata } = error;
  return {
    type: "error",
    error: {
      type: TYPES.get(error.http)?.type ?? "api_error",
      message: messageOf(error),
      details: {
        error_code: codeOf(error),
        ...(param === null ? {} : { param }),
        ...(metadata["unsupported"] === undefined ? {} : { unsupported: [metadata["unsupported"]] }),
      },
    },
  };
}

/** Agents know an input that is too long by the wire's own words for it. */
function messageOf(error: GatewayError): string {
  return contextMessage(error, /prompt is too long/i, {
    counted: (actual, limit) => `prompt is too long: ${actual} tokens > ${limit} maximum`,
    uncounted: "prompt is too long",
  });
}
