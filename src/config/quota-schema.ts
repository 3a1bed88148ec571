/** The quotas of accounts and keys, as settings say them. */
import { z } from "zod";
import { type AccountQuotas, type KeyQuotas, type Quota, QuotaPeriod } from "../api/index.js";
import { isTimeZone, QUOTA_COUNT_MAX, QUOTAS_MAX, quotasProblem } from "../api/quotas.js";
import { block, oneOf, reading, text, usd, wholeNumber } from "./values.js";

const PERIODS = new Map([
  ["five_hours", QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS],
  ["day", QuotaPeriod.QUOTA_PERIOD_DAY],
  ["week", QuotaPeriod.QUOTA_PERIOD_WEEK],
  ["month", QuotaPeriod.QUOTA_PERIOD_MONTH],
  ["quarter", QuotaPeriod.QUOTA_PERIOD_QUARTER],
  ["total", QuotaPeriod.QUOTA_PERIOD_TOTAL],
]);
const count = wholeNumber(0, QUOTA_COUNT_MAX).transform(BigInt).prefault("0");

const quota = block({
  period: oneOf([...PERIODS.keys()])
    .transform((word) => PERIODS.get(word) ?? QuotaPeriod.QUOTA_PERIOD_UNSPECIFIED)
    .describe(
      "The window: `five_hours` from the first request, a day, a week from Monday on, a month, a quarter, or `total`",
    ),
  model: text(256).optional().describe("The model or glob, such as gpt-*, whose requests count; left out: all"),
  requests: count.describe("The most requests; 0: no limit"),
  tokens: count.describe("The most input and output tokens; 0: no limit"),
  amount: usd.prefault("0").describe("The most money, in USD; 0: no limit"),
  warn_percent: wholeNumber(0, 100)
    .prefault("0")
    .describe("The percentage from which on answers warn with the header x-tollgate-quota; 0: never"),
}).transform((said): Quota => ({
  period: said.period,
  model: said.model ?? "",
  requests: said.requests,
  tokens: said.tokens,
  amountNanos: said.amount,
  warnPercent: said.warn_percent,
}));

const LIMITS_RULE = `must be a list of at most ${QUOTAS_MAX} quotas`;
const limits = z
  .array(quota, { error: () => LIMITS_RULE })
  .max(QUOTAS_MAX, LIMITS_RULE)
  .superRefine((said, context) => {
    const [place, message] = quotasProblem({ limits: said }) ?? [];
    if (place !== undefined && message !== undefined)
      context.addIssue({ code: "custom", message: `${place} ${message}` });
  })
  .default([])
  .describe("The quotas, each with a period and at least one of requests, tokens and amount");

const timeZone = reading("must be an IANA time zone such as Europe/Berlin", (value) =>
  isTimeZone(value) ? value : undefined,
);

export const accountQuotas = block({
  limits,
  time_zone: timeZone
    .optional()
    .describe("The time zone of the quotas of the account and its keys, such as Europe/Berlin; default: UTC"),
  day_start_hour: wholeNumber(0, 23)
    .prefault("0")
    .describe("The hour at which days, weeks, months and quarters start in the time zone"),
}).transform((said): AccountQuotas => ({
  limits: said.limits,
  timeZone: said.time_zone ?? "",
  dayStartHour: said.day_start_hour,
}));

export const keyQuotas = block({ limits }).transform((said): KeyQuotas => said);
