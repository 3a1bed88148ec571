/** Errors, both directions: what an upstream's refusal means for our client, and our own in Google's envelope. */
import type { GatewayError } from "../../base/errors.js";
import { type JsonObject, listOf, objectOf, textOf } from "../json/value.js";
import { contextMessage } from "../error/context-message.js";
import { redacted, toldName } from "../error/redact.js";
import { retryAfterMs } from "../error/retry-after.js";
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
  /billing (account|is|has|to be)|prepayment credits|api[_ ]key[_ ](not[_ ]valid|invalid|expired|not[_ ]found)/i;

/** Google's own reasons for refusing whoever asks. Source: google/api/error_reason.proto. */
const ROWS: readonly RefusalRow[] = [
  ...rowsOf("no_funds", ["BILLING_DISABLED"]),
  ...rowsOf("credential", [
    "UNAUTHENTICATED",
    "API_KEY_INVALID",
    "API_KEY_SERVICE_BLOCKED",
    "API_KEY_HTTP_REFERRER_BLOCKED",
    "API_KEY_IP_ADDRESS_BLOCKED",
    "API_KEY_ANDROID_APP_BLOCKED",
    "API_KEY_IOS_APP_BLOCKED",
    "ACCESS_TOKEN_EXPIRED",
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
    "ACCESS_TOKEN_TYPE_UNSUPPORTED",
    "ACCOUNT_STATE_INVALID",
    "CREDENTIALS_MISSING",
    "CONSUMER_INVALID",
    "CONSUMER_SUSPENDED",
    "SERVICE_DISABLED",
    "USER_PROJECT_DENIED",
  ]),
  ...rowsOf("model", ["NOT_FOUND"], 404),
];

/** The HTTP status that a status of Google's stands for. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ["INVALID_ARGUMENT", 400],
  ["FAILED_PRECONDITION", 400],
  ["OUT_OF_RANGE", 400],
  ["UNAUTHENTICATED", 401],
  ["PERMISSION_DENIED", 403],
  ["NOT_FOUND", 404],
  ["ABORTED", 409],
  ["ALREADY_EXISTS", 409],
  ["RESOURCE_EXHAUSTED", 429],
  ["CANCELLED", 499],
  ["UNKNOWN", 500],
  ["INTERNAL", 500],
  ["DATA_LOSS", 500],
  ["UNIMPLEMENTED", 501],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
]);

/** The status of Google's that stands for an HTTP status of ours. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [402, "FAILED_PRECONDITION"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [409, "ALREADY_EXISTS"],
  [413, "INVALID_ARGUMENT"],
  [429, "RESOURCE_EXHAUSTED"],
  [499, "CANCELLED"],
  [500, "INTERNAL"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "DEADLINE_EXCEEDED"],
]);

const ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo";

const GRAMMAR: RefusalGrammar = { rows: ROWS, ours: [OURS] };

export const decodeError = errorReader(saidIn, GRAMMAR);

/** What an error inside a stream, or inside an answer that says 200, means. */
export function decodeToldError(told: unknown): GatewayError {
  const said = saidIn(told);
  const code = errorIn(told)?.["code"];
  const named = typeof code === "number" && code >= 400 && code <= 599 ? code : 500;
  const status = STATUSES.get(said.names[0] ?? "") ?? named;
  return toldRefusal({ ...said, status, waitMs: retryAfterMs({}, JSON.stringify(told) ?? "") }, GRAMMAR);
}

/** Its names are its status, such as INVALID_ARGUMENT, and the reasons in its details, such as API_KEY_INVALID. */
function saidIn(value: unknown): Said {
  const error = errorIn(value);
  const details = listOf(error?.["details"]).map((detail) => objectOf(detail) ?? {});
  const reasons = details
    .filter((detail) => detail["@type"] === ERROR_INFO)
    .map((detail) => textOf(detail["reason"]))
    .filter((reason) => /^[A-Z][A-Z0-9_]{1,62}$/.test(reason));
  return {
    message: redacted(textOf(error?.["message"] ?? bodyIn(value)?.["error"])),
    names: [toldName(error?.["status"]), ...reasons],
    // The first field that is wrong, where it is named.
    param: toldName(textOf(firstViolation(details)?.["field"]), 200),
    code: "",
    contextParam: "contents",
  };
}

/** Google's envelope, also in the list of one that comes where no stream of events was asked for. */
function bodyIn(value: unknown): JsonObject | undefined {
  return objectOf(Array.isArray(value) ? value[0] : value);
}

function errorIn(value: unknown): JsonObject | undefined {
  return objectOf(bodyIn(value)?.["error"]);
}

function firstViolation(details: readonly JsonObject[]): JsonObject | undefined {
  for (const detail of details) {
    const violation = objectOf(listOf(detail["fieldViolations"])[0]);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** Our refusal in Google's envelope. */
export function encodeError(error: GatewayError): WireError {
  return { status: error.http, body: Buffer.from(errorText(error)) };
}

/** The reason stands in the details, as Google's servers tell theirs; so do the field that is wrong, and the wait. */
export function errorText(error: GatewayError): string {
  const { http, param, retryAfterMs: waitMs } = error;
  const message = contextMessage(error, /input token count/i, {
    counted: (actual, limit) =>
      `The input token count (${actual}) exceeds the maximum number of tokens allowed (${limit}).`,
    uncounted: "The input token count exceeds the maximum number of tokens allowed",
  });
  const type = "type.googleapis.com/google.rpc.";
  const details: JsonObject[] = [{ "@type": `${type}ErrorInfo`, reason: error.reasonWord, domain: "tollgate" }];
  if (param !== null)
    details.push({ "@type": `${type}BadRequest`, fieldViolations: [{ field: param, description: message }] });
  if (waitMs !== undefined) details.push({ "@type": `${type}RetryInfo`, retryDelay: `${waitMs / 1000}s` });
  return JSON.stringify({ error: { code: http, message, status: NAMES.get(http) ?? "UNKNOWN", details } });
}
