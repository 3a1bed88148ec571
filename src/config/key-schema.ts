/** A seed of a key in a settings file: whose it is, its secret, and what it may do. */
import { z } from "zod";
import { demands } from "./labels-schema.js";
import { parseBlock } from "./listen-address.js";
import { keyQuotas } from "./quota-schema.js";
import type { KeySeed } from "./settings.js";
import { block, oneOf, reading, text, truth, usd, wholeNumber } from "./values.js";

/** The scopes that a key can have, as `keys` defines them. */
export const KEY_SCOPES = [
  "chat",
  "embeddings",
  "rerank",
  "moderations",
  "audio",
  "models",
  "usage",
  "keys",
  "audit",
  "alerts",
  "operator",
] as const;

const LIMIT_MAX = 1_000_000_000;
const METADATA_ENTRIES_MAX = 16;

const scope = oneOf(KEY_SCOPES);

const accountId = reading("must be an account's id: 1 to 64 of a-z, 0-9, _, . and -", (value) =>
  /^[a-z0-9_.-]{1,64}$/.test(value) ? value : undefined,
);

const secret = reading(
  "must be sk- and at least 16 more characters without spaces",
  (value) => (/^sk-[\x21-\x7e]{16,253}$/.test(value) ? value : undefined),
  { type: "string" },
  { secret: { isSent: false } },
);

const addresses = reading("must be an address or CIDR block such as 10.0.0.0/8 or 2001:db8::/32", parseBlock);

const time = reading("must be a time such as 2027-01-01T00:00:00Z", (value) => {
  const parsed = z.iso.datetime({ offset: true }).safeParse(value);
  return parsed.success ? new Date(parsed.data) : undefined;
});

/** Requests, tokens or slots; 0 is no limit. */
export const limit = wholeNumber(0, LIMIT_MAX).transform(BigInt).prefault("0");
/** USD; 0 is no limit. */
export const budget = usd.prefault("0");
/** The limits of a key, or of a member. */
export const ownRates = {
  requests_per_minute: limit.describe("The maximum number of requests in any 60 seconds; 0: no limit"),
  tokens_per_minute: limit.describe("The maximum number of input and output tokens in any 60 seconds; 0: no limit"),
  concurrency: limit.describe("The maximum number of concurrent requests; 0: no limit"),
};

function listOf<Schema extends z.ZodType>(schema: Schema) {
  return z.array(schema, { error: () => "must be a list such as [a, b]" }).default([]);
}

const METADATA_RULE = `must be at most ${METADATA_ENTRIES_MAX} labels with their texts`;
const metadata = z
  .record(z.string().regex(/^.{1,64}$/, "must be named by 1 to 64 characters"), text(512), METADATA_RULE)
  .refine((labels) => Object.keys(labels).length <= METADATA_ENTRIES_MAX, METADATA_RULE)
  .default({});

/** One entry of `keys`. */
export const keySeed = block({
  account: accountId.describe("The account of the key, which must be in this file"),
  secret: secret.describe("The secret of the key, best as `${VARIABLE}`"),
  name: text(128).default("").describe("A display name"),
  scopes: listOf(scope).describe("What the key may do; default: `chat`, `embeddings`, `models` and `usage`"),
  models: listOf(text(128)).describe("Globs of the models that the key may use; empty: all"),
  models_denied: listOf(text(128)).describe(
    "Globs of the models that the key may not use, even if `models` matches them",
  ),
  addresses: listOf(addresses).describe("The addresses and CIDR blocks from which the key may be used; empty: all"),
  expires: time.optional().describe("When the key expires; absent: never"),
  ...ownRates,
  budget_day: budget.describe("The most that the key and all keys created with it may spend in a UTC day; 0: no limit"),
  budget_week: budget.describe("The same for a UTC week from Monday on; 0: no limit"),
  budget_month: budget.describe("The same for a UTC month; 0: no limit"),
  budget_quarter: budget.describe("The same for a UTC quarter of a year; 0: no limit"),
  budget_total: budget.describe("The same for the whole life of the key; 0: no limit"),
  request_cost_max: budget.describe("The most that one request may cost; 0: no limit"),
  refuse_unaffordable: truth
    .prefault("false")
    .describe("Refuse a request that the balance or a budget does not cover, instead of lowering its output limit"),
  metadata: metadata.describe("Your own labels"),
  retries_run_anew: truth
    .prefault("false")
    .describe(
      "Run and charge an automatic retry of an SDK as a new request. By default a retry after a lost connection gets the answer of the first attempt",
    ),
  strict: truth
    .prefault("false")
    .describe("Refuse a request with parameters that the upstream does not support, instead of removing them"),
  children_end_with_it: truth
    .prefault("false")
    .describe("When the key is revoked or expires, the keys created with it end too"),
  end_streams_on_revoke: truth
    .prefault("true")
    .describe("When the key is revoked, its running requests end within a second"),
  end_streams_on_expiry: truth.prefault("false").describe("When the key expires, its running requests end"),
  cache_marks_off: truth
    .prefault("false")
    .describe("Mark nothing for prompt caches in requests of the key, whatever `cache_marks` of the model says"),
  demands: demands
    .optional()
    .describe("Where and how requests may be processed, beside what the account demands; see docs/routing.md"),
  quotas: keyQuotas
    .optional()
    .describe("How much the key and all keys created with it may use in windows of time; see docs/keys.md"),
}).transform((said): KeySeed => ({
  accountId: said.account,
  secret: said.secret,
  settings: {
    name: said.name,
    scopes: said.scopes,
    models: said.models,
    modelsDenied: said.models_denied,
    addresses: said.addresses,
    expireTime: said.expires,
    requestsPerMinute: said.requests_per_minute,
    tokensPerMinute: said.tokens_per_minute,
    concurrency: said.concurrency,
    budgetDayNanos: said.budget_day,
    budgetWeekNanos: said.budget_week,
    budgetMonthNanos: said.budget_month,
    budgetQuarterNanos: said.budget_quarter,
    budgetTotalNanos: said.budget_total,
    requestCostMaxNanos: said.request_cost_max,
    refuseUnaffordable: said.refuse_unaffordable,
    metadata: said.metadata,
    retriesRunAnew: said.retries_run_anew,
    strict: said.strict,
    childrenEndWithIt: said.children_end_with_it,
    endStreamsOnRevoke: said.end_streams_on_revoke,
    endStreamsOnExpiry: said.end_streams_on_expiry,
    cacheMarksOff: said.cache_marks_off,
    demands: said.demands,
    quotas: said.quotas,
  },
}));
