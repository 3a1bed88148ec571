/** What a settings file may say: the shape of its blocks, and the rule that each value must keep. */
import { z } from "zod";
import type { ModelLimits } from "../api/index.js";
import type { ModelSettings, TargetSettings, UpstreamSettings, AccountSeed } from "./settings.js";
import { facts } from "./facts-schema.js";
import { keySeed, limit } from "./key-schema.js";
import { price } from "./price-schema.js";
import { block, named, orEmpty, reading, text, usd, wholeNumber } from "./values.js";

const UPSTREAM_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MODEL_ID = /^[a-z0-9][a-z0-9._:/@-]{0,127}$/;
const ACCOUNT_ID = /^[a-z0-9_.-]{1,64}$/;
const MODEL_KINDS = ["chat", "completion", "embedding"] as const;
const UNKNOWN_MEMBERS = ["pass", "refuse"] as const;
const TOKENS_MAX = 1_000_000_000;

const baseUrl = reading(
  "must be an http:// or https:// address without user, query, or fragment, such as https://api.example.com/v1",
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
      return undefined;
    return /[?#\s\\]/.test(value) ? undefined : value.replace(/\/+$/, "");
  },
);

const unknownMembers = reading("must be pass or refuse", (value) => UNKNOWN_MEMBERS.find((known) => known === value));

const upstream = block({
  family: text(64),
  api_key: text(4096).optional(),
  base_url: baseUrl.optional(),
  unknown_members: unknownMembers.default("pass"),
});

const weight = reading("must be a number above 0 and at most 1000000", (value) => {
  const number = /^\d{1,7}(\.\d{1,6})?$/.test(value) ? Number(value) : 0;
  return number > 0 && number <= 1_000_000 ? number : undefined;
});

const target = block({
  upstream: text(64),
  model: text(256).optional(),
  weight: weight.default(1),
  priority: wholeNumber(1, 100).default(1),
  cost: price.optional(),
});

const TARGETS_RULE = "must be a list of at least one target, such as [{ upstream: openai }]";

const kind = reading("must be chat, completion or embedding", (value) => MODEL_KINDS.find((known) => known === value));

const day = reading("must be a day such as 2027-01-31", (value) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
});

const model = block({
  targets: z
    .array(target, { error: (issue) => (issue.input === undefined ? `is missing: ${TARGETS_RULE}` : TARGETS_RULE) })
    .min(1, TARGETS_RULE),
  kind: kind.optional(),
  context_tokens: wholeNumber(1, TOKENS_MAX).optional(),
  output_tokens_max: wholeNumber(1, TOKENS_MAX).optional(),
  price: price.optional(),
  facts: facts.optional(),
  retires: day.optional(),
});

const amount = usd.default(0n);
const limits = { requests_per_minute: limit, tokens_per_minute: limit, concurrency: limit };
const account = block({
  name: text(256).optional(),
  credit: amount,
  budget_day: amount,
  budget_month: amount,
  budget_total: amount,
  request_cost_max: amount,
  ...limits,
  models: named(/^.{1,256}$/, "must be named by a model or a glob such as gpt-*", block(limits)),
});

/** Each is a few series in whatever reads the metrics. */
const METRIC_ACCOUNTS_MAX = 100;
const METRIC_ACCOUNTS_RULE = `must be a list of at most ${METRIC_ACCOUNTS_MAX} ids of accounts, such as [acme]`;
const accountId = reading("must be 1 to 64 of a-z, 0-9, _, . and -", (value) =>
  ACCOUNT_ID.test(value) ? value : undefined,
);
const metrics = block({
  accounts: z.array(accountId, METRIC_ACCOUNTS_RULE).max(METRIC_ACCOUNTS_MAX, METRIC_ACCOUNTS_RULE).default([]),
});

/** The whole file. */
export const settingsSchema = block({
  upstreams: named(UPSTREAM_ID, "must be named by 1 to 64 of a-z, 0-9, ., _ and -", upstream).transform((blocks) =>
    Object.entries(blocks).map(([id, value]): UpstreamSettings => ({
      id,
      family: value.family,
      apiKey: value.api_key,
      baseUrl: value.base_url,
      unknownMembers: value.unknown_members,
    })),
  ),
  models: named(
    MODEL_ID,
    "must be named by 1 to 128 of a-z, 0-9, ., _, :, /, @ and -, in small letters",
    model,
  ).transform((blocks) => Object.entries(blocks).map(([id, value]) => asModel(id, value))),
  accounts: named(ACCOUNT_ID, "must be named by 1 to 64 of a-z, 0-9, _, . and -", orEmpty(account)).transform(
    (blocks) =>
      Object.entries(blocks).map(([id, value]): AccountSeed => ({
        id,
        name: value.name ?? id,
        creditNanos: value.credit,
        budgets: {
          budgetDayNanos: value.budget_day,
          budgetMonthNanos: value.budget_month,
          budgetTotalNanos: value.budget_total,
          requestCostMaxNanos: value.request_cost_max,
        },
        limits: {
          ...asLimits(value),
          modelLimits: Object.entries(value.models).map(([model, said]) => asModelLimits(model, said)),
        },
      })),
  ),
  keys: z.preprocess((value) => value ?? [], z.array(keySeed, "must be a list of keys")),
  metrics: orEmpty(metrics),
});

function asLimits(said: z.output<z.ZodObject<typeof limits>>): Omit<AccountSeed["limits"], "modelLimits"> {
  return {
    requestsPerMinute: said.requests_per_minute,
    tokensPerMinute: said.tokens_per_minute,
    concurrency: said.concurrency,
  };
}

function asModelLimits(model: string, said: Parameters<typeof asLimits>[0]): ModelLimits {
  return { model, ...asLimits(said) };
}

function asModel(id: string, value: z.output<typeof model>): ModelSettings {
  return {
    id,
    targets: value.targets.map((target): TargetSettings => ({
      upstream: target.upstream,
      model: target.model ?? id,
      weight: target.weight,
      priority: target.priority,
      cost: target.cost,
    })),
    kind: value.kind,
    contextTokens: value.context_tokens,
    outputTokensMax: value.output_tokens_max,
    price: value.price,
    facts: value.facts ?? {},
    retireTime: value.retires,
  };
}
