/** What happened to a request that failed, in sentences for people, from the facts that its record has. */
import { reasonOfWord, REASONS, type ReasonName } from "../../base/errors.js";
import { formatMoney } from "../../base/money.js";
import type { RecordRow } from "../../records/columns.js";
import { RECORDED_FACTS } from "../../records/record-row.js";

type Facts = Readonly<Partial<Record<(typeof RECORDED_FACTS)[number], string>>>;

export interface Explanation {
  readonly explanation: string;
  readonly mayRetry: boolean;
  readonly limitOwner: string;
  readonly resetTime: Date | undefined;
}

const NONE: Explanation = { explanation: "", mayRetry: false, limitOwner: "", resetTime: undefined };

export function explanationOf({ reason, detail, endTimeMs }: RecordRow): Explanation {
  const name = reasonOfWord(reason);
  if (name === undefined) return NONE;
  const facts = factsIn(detail);
  return {
    explanation: SENTENCES[name]?.(facts) ?? `The request was refused with ${reason}.`,
    mayRetry: REASONS[name].retry,
    limitOwner: facts.owner ?? "",
    resetTime: resetOf(facts, endTimeMs),
  };
}

/** The latest time that a Date can have. */
const TIME_MS_MAX = 8.64e15;

function resetOf({ reset_time: time, reset_ms: inMs }: Facts, endTimeMs: number): Date | undefined {
  const ms = time === undefined ? endTimeMs + Number(inMs) : Date.parse(time);
  return Number.isFinite(ms) && Math.abs(ms) <= TIME_MS_MAX ? new Date(ms) : undefined;
}

const PLACES = new RegExp(`(?:^|, )(${RECORDED_FACTS.join("|")}) `, "g");

/** A fact ends where the next known name begins: values are recorded without a comma and a space behind it. */
function factsIn(detail: string): Facts {
  const [, ...parts] = detail.split(PLACES);
  return Object.fromEntries(parts.flatMap((name, at) => (at % 2 === 0 ? [[name, parts[at + 1] ?? ""]] : [])));
}

/** Such as "an amount that is not recorded" where an older record lacks it. */
function usd(nanos: string | undefined): string {
  return nanos !== undefined && /^-?\d{1,30}$/.test(nanos)
    ? formatMoney(BigInt(nanos))
    : "an amount that was not recorded";
}

/** What owns a limit: "the key" or "the account". */
function ownerOf({ owner = "" }: Facts): string {
  if (owner.startsWith("account")) return "the account";
  return owner.startsWith("key") ? "the key" : "the caller";
}

const PERIODS: Readonly<Record<string, string>> = {
  day: "daily budget",
  week: "weekly budget",
  month: "monthly budget",
  total: "total budget",
  request: "limit per request",
};

function budgetOf({ budget = "" }: Facts): string {
  return PERIODS[budget] ?? "budget";
}

const LIMITS: Readonly<Record<string, string>> = {
  requests_per_minute: "requests per minute",
  tokens_per_minute: "tokens per minute",
  concurrency: "requests at the same time",
};

function modelOf({ model }: Facts): string {
  return model === undefined ? "the model" : `the model '${model}'`;
}

const SENTENCES: Readonly<Partial<Record<ReasonName, (facts: Facts) => string>>> = {
  ERROR_REASON_BODY_INVALID: () => "The request body could not be read. Correct the request and send it again.",
  ERROR_REASON_PARAMETER_INVALID: ({ param = "a parameter" }) =>
    `The value of '${param}' was invalid. Correct the request and send it again.`,
  ERROR_REASON_PARAMETER_MISSING: ({ param = "" }) =>
    `The required parameter '${param}' was missing. Correct the request and send it again.`,
  ERROR_REASON_PARAMETER_UNSUPPORTED: (facts) =>
    `${capital(modelOf(facts))} does not support '${facts.param ?? "a parameter"}'. Remove it, or use another model.`,
  ERROR_REASON_UPSTREAM_REJECTED: () =>
    "The upstream refused the request as invalid. The attempts below show what the upstream answered.",
  ERROR_REASON_CONTEXT_TOO_LONG: () =>
    "The request was longer than the context of the model. Shorten the messages or the output limit.",
  ERROR_REASON_BODY_TOO_LARGE: () => "The request body was too large. Send a smaller one.",
  ERROR_REASON_KEY_MISSING: () => "No API key came with the request. Send one in the header 'authorization'.",
  ERROR_REASON_KEY_INVALID: () => "The API key is unknown. Check it for a typing error, or make a new one.",
  ERROR_REASON_KEY_EXPIRED: () => "The API key had expired. Use another key, or extend its expiry.",
  ERROR_REASON_KEY_REVOKED: () => "The API key was revoked. Use another key.",
  ERROR_REASON_SCOPE_MISSING: ({ scope = "" }) =>
    `The key lacks the scope '${scope}'. Use a key with this scope, or add the scope to the key.`,
  ERROR_REASON_ADDRESS_NOT_ALLOWED: () =>
    "The key may not be used from the address of the client. Add the address to those that the key allows.",
  ERROR_REASON_MODEL_NOT_ALLOWED: (facts) =>
    `The key may not use ${modelOf(facts)}. Use another model, or allow this one in the settings of the key.`,
  ERROR_REASON_NO_COMPLIANT_TARGET: (facts) =>
    `No target of ${modelOf(facts)} satisfies what the request, its key and its account demand. Use another model.`,
  ERROR_REASON_ACCOUNT_FROZEN: ({ cause }) =>
    `The account was frozen${cause === undefined ? "" : `: ${cause}`}. An operator can unfreeze it.`,
  ERROR_REASON_MODEL_UNKNOWN: (facts) =>
    `${capital(modelOf(facts))} is not served here. The page Models lists the models that are.`,
  ERROR_REASON_PATH_UNKNOWN: () => "The URL of the request does not exist. Check the base URL of the client.",
  ERROR_REASON_RATE_LIMITED: (facts) => {
    const { limit = "", limit_value: value } = facts;
    const most = value === undefined ? "" : `, ${value} ${LIMITS[limit] ?? limit},`;
    return `The limit of ${ownerOf(facts)}${most} was reached. Send the request again later, or raise the limit.`;
  },
  ERROR_REASON_UPSTREAM_RATE_LIMITED: (facts) =>
    `Every upstream of ${modelOf(facts)} had reached its vendor's rate limit. Send the request again later.`,
  ERROR_REASON_UPSTREAM_FULL: (facts) =>
    `Every upstream of ${modelOf(facts)} had reached its limit at this gateway. Send the request again later.`,
  ERROR_REASON_BALANCE_TOO_LOW: ({ needed_nanos: needed, available_nanos: available }) =>
    `The balance of the account was too low: the request could cost up to ${usd(needed)}, and ${usd(available)} was ` +
    "available. Add credit, or lower the output limit of the request.",
  ERROR_REASON_BUDGET_EXCEEDED: (facts) => {
    const { limit_nanos: limit, remaining_nanos: left, needed_nanos: needed } = facts;
    const what = `The ${budgetOf(facts)} of ${ownerOf(facts)}, ${usd(limit)}, was too low`;
    const amounts = `the request could cost up to ${usd(needed)}, and ${usd(left)} remained`;
    return `${what}: ${amounts}. Raise it, or lower the output limit of the request.`;
  },
  ERROR_REASON_BALANCE_HELD: (facts) =>
    `Running requests held the ${facts.budget === undefined ? "balance" : budgetOf(facts)} of ${ownerOf(facts)}: the ` +
    `request could cost up to ${usd(facts.needed_nanos)}, and ${usd(facts.available_nanos)} was free. ` +
    "Send the request again when some of them have ended.",
  ERROR_REASON_INTERNAL: () => "The gateway failed. Send the request again; the log of the gateway has the cause.",
  ERROR_REASON_UPSTREAM_FAILED: (facts) =>
    `The upstream of ${modelOf(facts)} failed. Send the request again; the attempts below show what it answered.`,
  ERROR_REASON_UPSTREAM_CREDENTIAL: (facts) =>
    `The upstream of ${modelOf(facts)} refused the credential of the gateway. An operator must replace the credential.`,
  ERROR_REASON_UPSTREAM_UNAVAILABLE: (facts) =>
    `No upstream of ${modelOf(facts)} was healthy. Send the request again later, or use another model.`,
  ERROR_REASON_UPSTREAM_TIMEOUT: (facts) =>
    facts.phase === "deadline"
      ? "The deadline of the call passed before the answer was complete. Allow more time."
      : `The upstream of ${modelOf(facts)} was too slow. Send the request again, or use another model.`,
  ERROR_REASON_OVERLOADED: () => "The gateway was at its limit. Send the request again later.",
  ERROR_REASON_LEDGER_UNAVAILABLE: () =>
    "The ledger could not be written, so the gateway started no request that costs money. Send the request again later.",
  ERROR_REASON_CANCELLED: () => "The client cancelled the request or closed the connection.",
};

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
