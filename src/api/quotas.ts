/** The rules for quotas, wherever they are set. */
import { type AccountQuotas, type Quota, QuotaPeriod } from "../../gen/tollgate/v1/quota.js";
import { AMOUNT_NANOS_MAX } from "../base/money.js";
import { timeZoneNamed } from "../base/time-zone.js";

export const QUOTAS_MAX = 20;
export const QUOTA_COUNT_MAX = 1_000_000_000_000;
const MODEL_CHARACTERS_MAX = 256;
const HOURS = 24;
const PERIODS: ReadonlySet<QuotaPeriod> = new Set([
  QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS,
  QuotaPeriod.QUOTA_PERIOD_DAY,
  QuotaPeriod.QUOTA_PERIOD_WEEK,
  QuotaPeriod.QUOTA_PERIOD_MONTH,
  QuotaPeriod.QUOTA_PERIOD_QUARTER,
  QuotaPeriod.QUOTA_PERIOD_TOTAL,
]);

/** The first member that breaks a rule, and the rule; undefined where all are well. */
export function quotasProblem({
  limits,
}: {
  readonly limits: readonly Quota[];
}): readonly [string, string] | undefined {
  if (limits.length > QUOTAS_MAX) return ["limits", `must have at most ${QUOTAS_MAX} entries`];
  const names = new Set<string>();
  for (const [index, quota] of limits.entries()) {
    const [member, problem] = quotaProblem(quota) ?? [];
    if (member !== undefined && problem !== undefined) return [`limits[${index}]${member}`, problem];
    const name = `${quota.period} ${quota.model}`;
    if (names.has(name)) return [`limits[${index}]`, "must differ from the others in its period or its model"];
    names.add(name);
  }
  return undefined;
}

function quotaProblem(quota: Quota): readonly [string, string] | undefined {
  const { period, model, requests, tokens, amountNanos, warnPercent } = quota;
  if (!PERIODS.has(period)) return [".period", "must be five_hours, day, week, month, quarter or total"];
  if (model.length > MODEL_CHARACTERS_MAX || /\p{Cc}/u.test(model))
    return [".model", `must be a model or a glob of at most ${MODEL_CHARACTERS_MAX} characters`];
  const most = BigInt(QUOTA_COUNT_MAX);
  if (requests < 0n || requests > most) return [".requests", `must be from 0 to ${most}`];
  if (tokens < 0n || tokens > most) return [".tokens", `must be from 0 to ${most}`];
  if (amountNanos < 0n || amountNanos > AMOUNT_NANOS_MAX)
    return [".amount_nanos", `must be from 0 to ${AMOUNT_NANOS_MAX}`];
  if (requests + tokens + amountNanos === 0n) return ["", "must limit requests, tokens or amount"];
  return warnPercent > 100 ? [".warn_percent", "must be from 0 to 100"] : undefined;
}

/** The same for the quotas of an account, which say when days start. */
export function accountQuotasProblem(quotas: AccountQuotas): readonly [string, string] | undefined {
  if (!isTimeZone(quotas.timeZone)) return ["time_zone", "must be an IANA time zone such as Europe/Berlin"];
  if (quotas.dayStartHour >= HOURS) return ["day_start_hour", `must be from 0 to ${HOURS - 1}`];
  return quotasProblem(quotas);
}

/** True for the name of a zone, and for an empty one, which is UTC; an offset such as +02:00 is none. */
export function isTimeZone(name: string): boolean {
  return name === "" || timeZoneNamed(name) !== undefined;
}
