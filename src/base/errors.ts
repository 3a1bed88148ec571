/**
 * Every refusal of the gateway: one table from its reason to what all edges share. How an edge or a wire calls one is
 * its own column: `src/rpc/call/grpc-codes.ts`, and the `error.ts` of each wire.
 */
import { ErrorReason } from "../../gen/tollgate/v1/error_reason.js";
import type { ErrorMetadata, Row } from "./refusal-row.js";
import { formatMoney } from "./money.js";
import { PEOPLE_REASONS } from "./people-reasons.js";

export type { ErrorMetadata } from "./refusal-row.js";

const REASON_PREFIX = "ERROR_REASON_";

/** The name of a reason, as in the protocol, such as ERROR_REASON_KEY_INVALID. */
export type ReasonName = Exclude<keyof typeof ErrorReason, "UNRECOGNIZED" | "ERROR_REASON_UNSPECIFIED">;

/** Metadata has nano-USD for programs; people read USD. Anything else, such as an example's placeholder, stays. */
function usd(nanos = ""): string {
  return /^\d+$/.test(nanos) ? formatMoney(BigInt(nanos)) : nanos;
}

function sayArchived(m: ErrorMetadata): string {
  const is = `The ${m["kind"]} '${m["id"]}' is older than ${m["archived_before"]}, and its transfers are archived.`;
  return `${is} It cannot be refunded: credit its account instead, and name it in the credit's reason.`;
}

const BAD_REQUEST = { http: 400, retry: false } as const;
const NO_KEY = { http: 401, retry: false } as const;
const NO_MONEY = { http: 402, retry: false } as const;
const FORBIDDEN = { http: 403, retry: false } as const;
const NOT_FOUND = { http: 404, retry: false } as const;
const UNAVAILABLE = { http: 503, retry: true } as const;

export const REASONS = {
  ERROR_REASON_BODY_INVALID: {
    ...BAD_REQUEST,
    say: (m) => `The request body cannot be read: ${m["problem"]}.`,
  },
  ERROR_REASON_PARAMETER_INVALID: {
    ...BAD_REQUEST,
    say: (m) => `Invalid value for '${m["param"]}': ${m["problem"]}.`,
  },
  ERROR_REASON_PARAMETER_MISSING: {
    ...BAD_REQUEST,
    say: (m) => `Missing required parameter: '${m["param"]}'.`,
  },
  ERROR_REASON_PARAMETER_UNSUPPORTED: {
    ...BAD_REQUEST,
    say: (m) =>
      `'${m["param"]}' is not supported with the model '${m["model"]}'${m["problem"] ? `: ${m["problem"]}` : ""}.`,
  },
  ERROR_REASON_UPSTREAM_REJECTED: {
    ...BAD_REQUEST,
    say: (m) => m["message"] || "The model's upstream refused the request as invalid.",
  },
  ERROR_REASON_CONTEXT_TOO_LONG: {
    ...BAD_REQUEST,
    say: (m) =>
      m["message"] ||
      `This model takes at most ${m["limit"]} tokens, but the request has ${m["actual"]}. Shorten the messages or the output limit.`,
  },
  ERROR_REASON_BODY_TOO_LARGE: {
    http: 413,
    retry: false,
    say: (m) =>
      m["limit_bytes"]
        ? `The request body is larger than ${m["limit_bytes"]} bytes.`
        : "The request body is larger than the model's upstream accepts.",
  },
  ERROR_REASON_KEY_MISSING: {
    ...NO_KEY,
    say: () => "No API key came with the request. Send it as 'Authorization: Bearer sk-...'.",
  },
  ERROR_REASON_KEY_INVALID: {
    ...NO_KEY,
    say: (m) => `Incorrect API key: ${m["key"]}. Check it for a typing error, or ask your operator for a new one.`,
  },
  ERROR_REASON_KEY_EXPIRED: {
    ...NO_KEY,
    say: (m) => `The API key ${m["key"]} expired at ${m["expired"]}. Ask your operator for a new one.`,
  },
  ERROR_REASON_KEY_REVOKED: {
    ...NO_KEY,
    say: (m) => `The API key ${m["key"]} was revoked. Ask your operator for a new one.`,
  },
  ERROR_REASON_SCOPE_MISSING: {
    ...FORBIDDEN,
    say: (m) => `This needs the scope '${m["scope"]}', but the key has: ${m["scopes"] || "none"}.`,
  },
  ERROR_REASON_ADDRESS_NOT_ALLOWED: {
    ...FORBIDDEN,
    say: (m) => `The key may not be used from the address ${m["address"]}.`,
  },
  ERROR_REASON_MODEL_NOT_ALLOWED: {
    ...FORBIDDEN,
    say: (m) => `The key may not use the model '${m["model"]}'. GET /v1/models lists those that it may use.`,
  },
  ERROR_REASON_NO_COMPLIANT_TARGET: {
    ...FORBIDDEN,
    say: (m) =>
      `No target of the model '${m["model"]}' satisfies what the request, its key and its account demand: ${m["demands"]}. Use another model, or ask your operator.`,
  },
  ERROR_REASON_KEY_TOO_WIDE: {
    ...FORBIDDEN,
    say: (m) =>
      `The setting '${m["setting"]}' would allow more than your own key: ${m["problem"]}. Lower it, or ask your operator.`,
  },
  ERROR_REASON_ACCOUNT_FROZEN: {
    ...FORBIDDEN,
    say: (m) => `The account '${m["account"]}' is frozen: ${m["cause"]}. Ask your operator to unfreeze it.`,
  },
  ERROR_REASON_MODEL_UNKNOWN: {
    ...NOT_FOUND,
    say: (m) =>
      m["cause"] === "unpriced_model"
        ? `The model '${m["model"]}' is not served: its price or its limits are not known. See GET /v1/models.`
        : `The model '${m["model"]}' does not exist. GET /v1/models lists those that do.`,
  },
  ERROR_REASON_PATH_UNKNOWN: {
    ...NOT_FOUND,
    say: (m) =>
      `Unknown request URL: ${m["method"] ?? "GET"} ${m["path"]}.${m["hint"] ? ` Did you mean ${m["hint"]}?` : ""}`,
  },
  ERROR_REASON_UPGRADE_REFUSED: {
    http: 426,
    retry: false,
    say: (m) =>
      `${m["path"]} does not accept WebSockets. Send a POST request over HTTP; 'stream: true' streams the answer.`,
  },
  ERROR_REASON_CONNECTION_TOO_OLD: {
    ...BAD_REQUEST,
    say: (m) =>
      `This WebSocket has reached the maximum age of ${m["minutes"]} minutes. Open a new one and send the request again.`,
  },
  ERROR_REASON_RESOURCE_UNKNOWN: {
    ...NOT_FOUND,
    say: (m) => (m["archived_before"] ? sayArchived(m) : `There is no ${m["kind"]} '${m["id"]}', or it is not yours.`),
  },
  ERROR_REASON_ALREADY_EXISTS: {
    http: 409,
    retry: false,
    say: (m) => `The ${m["kind"]} '${m["id"]}' exists already${m["problem"] ? ` ${m["problem"]}` : ""}.`,
  },
  ERROR_REASON_ETAG_STALE: {
    http: 409,
    retry: false,
    say: (m) =>
      `The ${m["kind"]} '${m["id"]}' was changed since you read it. Read it again, and send your change with its new etag.`,
  },
  ERROR_REASON_IDEMPOTENCY_KEY_REUSED: {
    http: 422,
    retry: false,
    say: (m) =>
      `This Idempotency-Key was used before with another body or route, by the request ${m["request"]}. Use a new Idempotency-Key for each new request.`,
  },
  ERROR_REASON_ANSWER_GONE: {
    http: 409,
    retry: false,
    say: (m) =>
      `The request ${m["request"]} with this Idempotency-Key was charged ${usd(m["cost_nanos"])}, but its answer is no longer stored. To run the request and pay for it again, send a new Idempotency-Key.`,
  },
  ERROR_REASON_STREAM_GONE: {
    http: 410,
    retry: false,
    say: (m) => `The stream of the request ${m["request"]} is not stored, or is no longer stored.`,
  },
  ERROR_REASON_RATE_LIMITED: {
    http: 429,
    retry: true,
    say: (m) =>
      `The limit ${m["limit"]} of ${m["owner"]} is ${m["limit_value"]}; ${m["remaining"]} remain. Please try again in ${Number(m["reset_ms"] ?? 0) / 1000}s.`,
  },
  ERROR_REASON_UPSTREAM_RATE_LIMITED: {
    http: 429,
    retry: true,
    say: (m) => `Every upstream of the model '${m["model"]}' has reached its own rate limit. Try again later.`,
  },
  ERROR_REASON_UPSTREAM_FULL: {
    http: 429,
    retry: true,
    say: (m) =>
      `Every upstream of the model '${m["model"]}' has reached its limit (${m["limit"]}) at this gateway. Try again later.`,
  },
  ERROR_REASON_BALANCE_TOO_LOW: {
    ...NO_MONEY,
    say: (m) =>
      `The balance is too low: the request can cost up to ${usd(m["needed_nanos"])}, and ${usd(m["available_nanos"])} is available. Add credit, or lower the output limit.`,
  },
  ERROR_REASON_BUDGET_EXCEEDED: {
    ...NO_MONEY,
    say: (m) =>
      `The ${m["owner"]?.startsWith("account") ? "account" : "key"}'s budget (${m["budget"]}) of ${usd(m["limit_nanos"])} is too low: the request can cost up to ${usd(m["needed_nanos"])}, and ${usd(m["remaining_nanos"])} remains${m["reset_time"] ? ` until ${m["reset_time"]}` : ""}.`,
  },
  ERROR_REASON_QUOTA_EXCEEDED: {
    http: 429,
    retry: true,
    say: (m) =>
      `The quota of ${m["limit_value"]} ${m["quota"]} (${m["period"]}) of ${m["owner"]} is too low: the request can use up to ${m["needed"]}, and ${m["remaining"]} remain${m["reset_time"] ? ` until ${m["reset_time"]}` : ""}.`,
  },
  ERROR_REASON_BALANCE_HELD: {
    http: 429,
    retry: true,
    say: (m) =>
      `Running requests hold the ${m["budget"] ? `budget (${m["budget"]})` : "balance"} of ${m["owner"]}: this request can cost up to ${usd(m["needed_nanos"])}; ${usd(m["available_nanos"])} is free and ${usd(m["held_nanos"])} is held. Try again when some of them have ended, or lower the output limit.`,
  },
  ERROR_REASON_INTERNAL: {
    http: 500,
    retry: true,
    say: () => "The gateway failed. Try again; if it happens again, give your operator the request id.",
  },
  ERROR_REASON_UPSTREAM_FAILED: {
    http: 502,
    retry: true,
    say: (m) => `The upstream of the model '${m["model"]}' failed${m["problem"] ? `: ${m["problem"]}` : ""}.`,
  },
  ERROR_REASON_UPSTREAM_CREDENTIAL: {
    http: 502,
    retry: false,
    say: (m) =>
      `The upstream of the model '${m["model"]}' refuses the gateway${m["problem"] ? `: ${m["problem"]}` : ""}. Your operator must fix that; until then, use another model.`,
  },
  ERROR_REASON_UPSTREAM_UNAVAILABLE: {
    ...UNAVAILABLE,
    say: (m) => `No upstream of the model '${m["model"]}' is healthy. Try again later, or another model.`,
  },
  ERROR_REASON_OVERLOADED: {
    ...UNAVAILABLE,
    say: (m) => `The gateway takes no more requests now: ${m["problem"] ?? "it is at its limit"}. Try again later.`,
  },
  ERROR_REASON_LEDGER_UNAVAILABLE: {
    ...UNAVAILABLE,
    say: () => "The ledger cannot be written, so the gateway starts no request that costs money. Try again later.",
  },
  ERROR_REASON_UPSTREAM_TIMEOUT: {
    http: 504,
    retry: true,
    say: (m) =>
      m["phase"] === "deadline"
        ? "The deadline of the call passed before the answer was complete."
        : `The upstream of the model '${m["model"]}' was too slow${m["phase"] ? ` (${m["phase"]})` : ""}.`,
  },
  ERROR_REASON_CANCELLED: {
    http: 499,
    retry: false,
    say: () => "The client cancelled the request or closed the connection.",
  },
  ...PEOPLE_REASONS,
} as const satisfies Record<ReasonName, Row>;

const LEDGER_RETRY_MS = 1_000;
/** SDKs wait no longer by themselves: told more, they try again at once. */
const RETRY_WAIT_MS_MAX = 60_000;

/** An expected refusal. The cause is logged and never sent. */
export class GatewayError extends Error {
  readonly reason: ReasonName;
  readonly metadata: ErrorMetadata;

  constructor(reason: ReasonName, metadata: ErrorMetadata = {}, options?: ErrorOptions) {
    super(REASONS[reason].say(metadata), options);
    this.name = "GatewayError";
    this.reason = reason;
    this.metadata = metadata;
  }

  get http(): number {
    return REASONS[this.reason].http;
  }

  /** The parameter that is wrong, as a path such as `messages[0].role`; null where none is. */
  get param(): string | null {
    if (this.reason === "ERROR_REASON_MODEL_UNKNOWN" || this.reason === "ERROR_REASON_MODEL_NOT_ALLOWED")
      return "model";
    return this.metadata["param"] ?? null;
  }

  /** Whether a client should try again by itself: not where upstreams cause a wait of more than a minute. */
  get retry(): boolean {
    return REASONS[this.reason].retry && Number(this.metadata["retry_after_ms"] ?? 0) <= RETRY_WAIT_MS_MAX;
  }

  /** How long to wait before the next try, in milliseconds; undefined where waiting does not help or nobody knows. */
  get retryAfterMs(): number | undefined {
    const text = this.metadata["retry_after_ms"] ?? this.metadata["reset_ms"];
    if (text !== undefined) return REASONS[this.reason].retry ? Number(text) : undefined;
    // A database that was away is there again within seconds, or for long: then a second's asking is little.
    return this.reason === "ERROR_REASON_LEDGER_UNAVAILABLE" ? LEDGER_RETRY_MS : undefined;
  }

  /** The reason as clients, logs and metrics read it, such as KEY_INVALID. */
  get reasonWord(): string {
    return reasonWord(this.reason);
  }

  /** Any thrown value as a refusal: what is not one is our fault. */
  static from(error: unknown): GatewayError {
    return error instanceof GatewayError ? error : new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: error });
  }
}

/** A reason as clients, logs and metrics read it, such as KEY_INVALID. */
export function reasonWord(reason: ReasonName): string {
  return reason.slice(REASON_PREFIX.length);
}

/** The reason that a word names; undefined for any other word. */
export function reasonOfWord(word: string): ReasonName | undefined {
  const name = REASON_PREFIX + word;
  return isReasonName(name) ? name : undefined;
}

/** True for a name that the protocol knows, so that an edge can read a reason it received. */
export function isReasonName(name: string): name is ReasonName {
  return Object.hasOwn(REASONS, name);
}

/** True of what the ledger's database did not take, since it is away. */
export function isLedgerUnavailable(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.reason === "ERROR_REASON_LEDGER_UNAVAILABLE";
}
