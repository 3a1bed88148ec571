/** The valid ranges of an account's budgets and limits. */
import { BODY_BYTES_MAX, MODEL_LIMITS_MAX, REDACTIONS_MAX, TOTAL_BYTES_MAX } from "../base/account-bounds.js";
import { demandsProblem } from "../base/demands.js";
import { CreditPeriod } from "../api/index.js";
import { accountQuotasProblem } from "../api/quotas.js";
import { GatewayError } from "../base/errors.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import type { AccountBudgets, AccountLimits } from "../store/store.js";
import { isText } from "./corrections.js";

const LINE_PERIODS: ReadonlySet<CreditPeriod> = new Set([
  CreditPeriod.CREDIT_PERIOD_DAY,
  CreditPeriod.CREDIT_PERIOD_WEEK,
  CreditPeriod.CREDIT_PERIOD_MONTH,
  CreditPeriod.CREDIT_PERIOD_QUARTER,
]);
const LIMIT_MAX = 1_000_000_000n;
const GLOB_CHARACTERS_MAX = 256;
const REDACTION_CHARACTERS_MIN = 3;
const REDACTION_CHARACTERS_MAX = 128;

/** Throws PARAMETER_INVALID for the first setting that is out of range. */
export function checkSettings(settings: Partial<AccountBudgets & AccountLimits>): void {
  checkRange(AMOUNT_NANOS_MAX, {
    budget_day_nanos: settings.budgetDayNanos,
    budget_week_nanos: settings.budgetWeekNanos,
    budget_month_nanos: settings.budgetMonthNanos,
    budget_quarter_nanos: settings.budgetQuarterNanos,
    budget_total_nanos: settings.budgetTotalNanos,
    request_cost_max_nanos: settings.requestCostMaxNanos,
  });
  checkLimits("", settings);
  checkModelLimits(settings.modelLimits ?? []);
  if (settings.content !== undefined) checkContent(settings.content);
  const problem = settings.demands && demandsProblem(settings.demands);
  if (problem !== undefined) throw invalid(`demands.${problem[0]}`, problem[1]);
  const broken = settings.quotas && accountQuotasProblem(settings.quotas);
  if (broken !== undefined) throw invalid(`quotas.${broken[0]}`, broken[1]);
  if (settings.creditLine !== undefined) checkLine(settings.creditLine);
}

function checkLine({ amountNanos, period }: NonNullable<AccountLimits["creditLine"]>): void {
  if (amountNanos <= 0n || amountNanos > AMOUNT_NANOS_MAX)
    throw invalid("credit_line.amount_nanos", `must be from 1 to ${AMOUNT_NANOS_MAX}`);
  if (!LINE_PERIODS.has(period)) throw invalid("credit_line.period", "must be day, week, month or quarter");
}

function checkContent({ redactions, bodyBytesMax, totalBytesMax }: NonNullable<AccountLimits["content"]>): void {
  checkRange(BigInt(BODY_BYTES_MAX), { "content.body_bytes_max": BigInt(bodyBytesMax) });
  checkRange(BigInt(TOTAL_BYTES_MAX), { "content.total_bytes_max": totalBytesMax });
  if (redactions.length > REDACTIONS_MAX)
    throw invalid("content.redactions", `must have at most ${REDACTIONS_MAX} entries`);
  for (const [index, rule] of redactions.entries()) {
    const words = rule.split("*").length - 1;
    const isRule = isText(rule, REDACTION_CHARACTERS_MIN, REDACTION_CHARACTERS_MAX) && words <= 2;
    if (isRule && !rule.includes("**")) continue;
    const problem = `must be ${REDACTION_CHARACTERS_MIN} to ${REDACTION_CHARACTERS_MAX} characters with at most two *`;
    throw invalid(`content.redactions[${index}]`, `${problem}, not side by side`);
  }
}

function checkLimits(place: string, limits: Partial<Omit<AccountLimits, "modelLimits">>): void {
  checkRange(LIMIT_MAX, {
    [`${place}requests_per_minute`]: limits.requestsPerMinute,
    [`${place}tokens_per_minute`]: limits.tokensPerMinute,
    [`${place}concurrency`]: limits.concurrency,
  });
}

function checkModelLimits(modelLimits: AccountLimits["modelLimits"]): void {
  if (modelLimits.length > MODEL_LIMITS_MAX)
    throw invalid("model_limits", `must have at most ${MODEL_LIMITS_MAX} entries`);
  const models = new Set<string>();
  for (const [index, limits] of modelLimits.entries()) {
    const place = `model_limits[${index}].`;
    if (!isText(limits.model, 1, GLOB_CHARACTERS_MAX))
      throw invalid(`${place}model`, `must be a model or a glob of 1 to ${GLOB_CHARACTERS_MAX} characters`);
    // The settings file, which accounts are exported to, cannot hold it as a name.
    if (limits.model === "__proto__") throw invalid(`${place}model`, "cannot be __proto__");
    if (models.has(limits.model)) throw invalid(`${place}model`, "must be named once");
    models.add(limits.model);
    checkLimits(place, limits);
  }
}

function checkRange(most: bigint, values: Readonly<Record<string, bigint | undefined>>): void {
  for (const [param, value] of Object.entries(values)) {
    if (value !== undefined && (value < 0n || value > most)) throw invalid(param, `must be from 0 to ${most}`);
  }
}

function invalid(param: string, problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: `settings.${param}`, problem });
}
