/** A seed of a key in a settings file: whose it is, its secret, and what it may do. */
import { z } from "zod";
import { parseBlock } from "./address.js";
import type { KeySeed } from "./settings.js";
import { block, reading, text, truth, usd, wholeNumber } from "./values.js";

/** The scopes that a key can have, as `keys` defines them. */
export const KEY_SCOPES = ["chat", "embeddings", "models", "usage", "keys", "audit", "alerts", "operator"] as const;

const LIMIT_MAX = 1_000_000_000;
const METADATA_ENTRIES_MAX = 16;

const scope = reading(`must be one of ${KEY_SCOPES.join(", ")}`, (value) =>
  KEY_SCOPES.find((known) => known === value),
);

const accountId = reading("must be an account's id: 1 to 64 of a-z, 0-9, _, . and -", (value) =>
  /^[a-z0-9_.-]{1,64}$/.test(value) ? value : undefined,
);

const secret = reading("must be sk- and at least 16 more characters without spaces", (value) =>
  /^sk-[\x21-\x7e]{16,253}$/.test(value) ? value : undefined,
);

const addresses = reading("must be an address or CIDR block such as 10.0.0.0/8 or 2001:db8::/32", parseBlock);

const time = reading("must be a time such as 2027-01-01T00:00:00Z", (value) => {
  const parsed = z.iso.datetime({ offset: true }).safeParse(value);
  return parsed.success ? new Date(parsed.data) : undefined;
});

/** Requests, tokens or slots; 0 is no limit. */
export const limit = wholeNumber(0, LIMIT_MAX).transform(BigInt).default(0n);
const budget = usd.default(0n);

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
  account: accountId,
  secret,
  name: text(128).default(""),
  scopes: listOf(scope),
  models: listOf(text(128)),
  models_denied: listOf(text(128)),
  addresses: listOf(addresses),
  expires: time.optional(),
  requests_per_minute: limit,
  tokens_per_minute: limit,
  concurrency: limit,
  budget_day: budget,
  budget_month: budget,
  budget_total: budget,
  request_cost_max: budget,
  refuse_unaffordable: truth.default(false),
  metadata,
  retries_run_anew: truth.default(false),
  strict: truth.default(false),
  children_end_with_it: truth.default(false),
  end_streams_on_revoke: truth.default(true),
  end_streams_on_expiry: truth.default(false),
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
    budgetMonthNanos: said.budget_month,
    budgetTotalNanos: said.budget_total,
    requestCostMaxNanos: said.request_cost_max,
    refuseUnaffordable: said.refuse_unaffordable,
    metadata: said.metadata,
    retriesRunAnew: said.retries_run_anew,
    strict: said.strict,
    childrenEndWithIt: said.children_end_with_it,
    endStreamsOnRevoke: said.end_streams_on_revoke,
    endStreamsOnExpiry: said.end_streams_on_expiry,
  },
}));
