/** The accounts of a settings file, and the plans that accounts are made from. */
import { z } from "zod";
import { type CreditLine, CreditPeriod, type ModelLimits } from "../api/index.js";
import { BODY_BYTES_MAX, MODEL_LIMITS_MAX, REDACTIONS_MAX, TOTAL_BYTES_MAX } from "../base/account-bounds.js";
import { defined } from "../base/defined.js";
import { budget, limit, ownRates } from "./key-schema.js";
import { demands } from "./labels-schema.js";
import { accountQuotas } from "./quota-schema.js";
import type { AccountSeed, KeyLimits, PlanSettings } from "./settings.js";
import { block, named, oneOf, orEmpty, reading, text, truth, usd, wholeNumber } from "./values.js";

const ACCOUNT_ID = /^[a-z0-9_.-]{1,64}$/;
const PLAN_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const REDACTION = /^[^*\p{Cc}]*(\*[^*\p{Cc}]+)?\*?[^*\p{Cc}]*$/u;
const EXPIRES_DAYS_MAX = 3_650;

const limits = {
  requests_per_minute: limit.describe(
    "The maximum number of requests of all keys together in any 60 seconds; 0: no limit",
  ),
  tokens_per_minute: limit.describe("The maximum number of tokens of all keys together in any 60 seconds; 0: no limit"),
  concurrency: limit.describe("The maximum number of concurrent requests of all keys together; 0: no limit"),
};
const budgets = {
  budget_day: budget.describe("The most that all keys together may spend in a UTC day; 0: no limit"),
  budget_week: budget.describe("The most that all keys together may spend in a UTC week from Monday on; 0: no limit"),
  budget_month: budget.describe("The most that all keys together may spend in a UTC month; 0: no limit"),
  budget_quarter: budget.describe("The most that all keys together may spend in a UTC quarter of a year; 0: no limit"),
  budget_total: budget.describe("The most that all keys together may ever spend; 0: no limit"),
  request_cost_max: budget.describe("The most that one request may cost; 0: no limit"),
};
const LINE_PERIODS = new Map([
  ["day", CreditPeriod.CREDIT_PERIOD_DAY],
  ["week", CreditPeriod.CREDIT_PERIOD_WEEK],
  ["month", CreditPeriod.CREDIT_PERIOD_MONTH],
  ["quarter", CreditPeriod.CREDIT_PERIOD_QUARTER],
]);
const creditLine = block({
  amount: usd.refine((nanos) => nanos > 0n, "must be above 0").describe("The money with which each period starts"),
  period: oneOf([...LINE_PERIODS.keys()])
    .transform((word) => LINE_PERIODS.get(word) ?? CreditPeriod.CREDIT_PERIOD_UNSPECIFIED)
    .describe("When the line is renewed: each day, week from Monday on, month or quarter of a year, in UTC"),
})
  .transform(({ amount: amountNanos, period }): CreditLine => ({ amountNanos, period }))
  .optional();
const LINE_IS =
  "Money that the account is granted again in each period; what it did not use of the grant before expires";
const models = named(/^.{1,256}$/, "must be named by a model or a glob such as gpt-*", block(limits));
const MODELS_ARE =
  "Limits for some models, each by the name of a model or by a glob; all models that match a glob share its limits";

/** The ids of accounts as other blocks name them. */
export const accountId = reading("must be 1 to 64 of a-z, 0-9, _, . and -", (value) =>
  ACCOUNT_ID.test(value) ? value : undefined,
);
const planName = reading("must be the name of a plan: 1 to 64 of a-z, 0-9, ., _ and -", (value) =>
  PLAN_NAME.test(value) ? value : undefined,
);

const account = block({
  name: text(256).optional().describe("The display name; default: the id"),
  plan: planName
    .optional()
    .describe(
      "The plan that the account is made from: where a budget or a limit is 0 or left out, the account gets the plan's",
    ),
  credit: budget.describe("The credit that the account gets once, when it is created"),
  ...budgets,
  ...limits,
  credit_line: creditLine.describe(LINE_IS),
  models: models.describe(MODELS_ARE),
  demands: demands
    .optional()
    .describe("Where and how requests may be processed; left out: as the account has it. See docs/routing.md"),
  quotas: accountQuotas.optional().describe("How much the account may use in windows of time; see docs/keys.md"),
});

export const accounts = named(
  ACCOUNT_ID,
  "must be named by 1 to 64 of a-z, 0-9, _, . and -",
  orEmpty(account),
).transform((blocks) => Object.entries(blocks).map(([id, value]) => asAccount(id, value)));

const REDACTIONS_RULE = `must be a list of at most ${REDACTIONS_MAX} patterns such as ["###-##-####"]`;
const redaction = reading("must be 3 to 128 characters with at most two *, not side by side", (value) =>
  value.length >= 3 && value.length <= 128 && REDACTION.test(value) ? value : undefined,
);
const content = block({
  allowed: truth.prefault("false").describe("Whether owners and admins may turn content storage on"),
  redactions: z
    .array(redaction, { error: () => REDACTIONS_RULE })
    .max(REDACTIONS_MAX, REDACTIONS_RULE)
    .default([])
    .describe("Patterns of text that is always removed; owners and admins may add others"),
  body_bytes_max: wholeNumber(0, BODY_BYTES_MAX)
    .prefault("0")
    .describe("The maximum that is stored of a request, and of an answer, in bytes; 0: 65536"),
  total_bytes_max: wholeNumber(0, TOTAL_BYTES_MAX)
    .transform(BigInt)
    .prefault("0")
    .describe("The maximum that is stored for the account, in bytes; 0: 268435456"),
});
/** The budgets and limits of a member, or of a key. */
const ownLimits = {
  budget_day: budget.describe("The most that may be spent in a UTC day; 0: no limit"),
  budget_week: budget.describe("The most that may be spent in a UTC week from Monday on; 0: no limit"),
  budget_month: budget.describe("The most that may be spent in a UTC month; 0: no limit"),
  budget_quarter: budget.describe("The most that may be spent in a UTC quarter of a year; 0: no limit"),
  budget_total: budget.describe("The most that may ever be spent; 0: no limit"),
  request_cost_max: budget.describe("The most that one request may cost; 0: no limit"),
  ...ownRates,
};
const keys = block({
  ...ownLimits,
  expires_after_days: wholeNumber(0, EXPIRES_DAYS_MAX)
    .prefault("0")
    .describe("The number of days after which a key expires; 0: never"),
});
const MODELS_RULE = `must be limits for at most ${MODEL_LIMITS_MAX} models or globs`;
const plan = block({
  ...budgets,
  ...limits,
  credit_line: creditLine.describe(LINE_IS),
  models: models.refine((said) => Object.keys(said).length <= MODEL_LIMITS_MAX, MODELS_RULE).describe(MODELS_ARE),
  content: orEmpty(content).describe("Whether, and how much, owners and admins may store of requests and answers"),
  members: orEmpty(block(ownLimits)).describe(
    "The budgets and limits of a new member, and the most that owners and admins may set for a member",
  ),
  keys: orEmpty(keys).describe("What a new key gets where its request leaves it out"),
});

export const plans = named(PLAN_NAME, "must be named by 1 to 64 of a-z, 0-9, ., _ and -", orEmpty(plan)).transform(
  (blocks) => Object.entries(blocks).map(([id, value]) => asPlan(id, value)),
);

function asAccount(id: string, said: z.output<typeof account>): AccountSeed {
  const { name = id, plan: from = "", credit: creditNanos } = said;
  const settings = asSettings(said);
  const demanded = defined({ demands: said.demands, quotas: said.quotas });
  return { id, name, plan: from, creditNanos, ...settings, limits: { ...settings.limits, ...demanded } };
}

function asPlan(id: string, said: z.output<typeof plan>): PlanSettings {
  const { allowed: isAllowed, redactions, body_bytes_max: bodyBytesMax, total_bytes_max: totalBytesMax } = said.content;
  return {
    id,
    ...asSettings(said),
    content: { isAllowed, redactions, bodyBytesMax, totalBytesMax },
    members: asOwnLimits(said.members),
    keys: { ...asOwnLimits(said.keys), expiresAfterDays: said.keys.expires_after_days },
  };
}

type Limits = z.output<z.ZodObject<typeof limits>>;
type Said = Limits &
  z.output<z.ZodObject<typeof budgets>> & {
    readonly models: Readonly<Record<string, Limits>>;
    readonly credit_line?: CreditLine | undefined;
  };

function asSettings(said: Said): Pick<AccountSeed, "budgets" | "limits"> {
  return {
    budgets: asBudgets(said),
    limits: {
      ...asLimits(said),
      modelLimits: Object.entries(said.models).map(([model, own]): ModelLimits =>
        Object.assign({ model }, asLimits(own)),
      ),
      ...(said.credit_line === undefined ? {} : { creditLine: said.credit_line }),
    },
  };
}

function asBudgets(said: z.output<z.ZodObject<typeof budgets>>): AccountSeed["budgets"] {
  return {
    budgetDayNanos: said.budget_day,
    budgetWeekNanos: said.budget_week,
    budgetMonthNanos: said.budget_month,
    budgetQuarterNanos: said.budget_quarter,
    budgetTotalNanos: said.budget_total,
    requestCostMaxNanos: said.request_cost_max,
  };
}

function asLimits(said: Limits): Omit<AccountSeed["limits"], "modelLimits" | "creditLine"> {
  return {
    requestsPerMinute: said.requests_per_minute,
    tokensPerMinute: said.tokens_per_minute,
    concurrency: said.concurrency,
  };
}

function asOwnLimits(said: z.output<z.ZodObject<typeof ownLimits>>): KeyLimits {
  return { ...asBudgets(said), ...asLimits(said) };
}
