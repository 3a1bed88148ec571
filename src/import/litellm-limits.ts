/** Budgets and limits of LiteLLM's rows in this gateway's terms. */
import type { BudgetRow, LimitsRow } from "./litellm-rows.js";

export type BudgetWindow = "day" | "week" | "month" | "quarter" | "total";

/** Settings that keys and accounts share. */
export interface CarriedLimits {
  readonly requestsPerMinute: bigint;
  readonly tokensPerMinute: bigint;
  readonly concurrency: bigint;
  readonly budget: { readonly window: BudgetWindow; readonly nanos: bigint } | undefined;
}

const NANOS = 1_000_000_000;
const UNIT_DAYS: Readonly<Record<string, number>> = { s: 1 / 86_400, m: 1 / 1440, h: 1 / 24, d: 1, w: 7, mo: 30 };
/** The longest duration, in days, that each window stands for, and the durations that it equals. */
const WINDOWS: readonly {
  readonly window: BudgetWindow;
  readonly daysMax: number;
  readonly equals: readonly number[];
}[] = [
  { window: "day", daysMax: 1, equals: [1] },
  { window: "week", daysMax: 7, equals: [7] },
  { window: "month", daysMax: 31, equals: [30] },
  { window: "quarter", daysMax: 92, equals: [90] },
];

/** `onDifference` hears what is not carried as it was. */
export function limitsOfRow(
  row: LimitsRow,
  budgets: ReadonlyMap<string, BudgetRow>,
  onDifference: (what: string) => void,
): CarriedLimits {
  const shared = row.budget_id == null ? undefined : budgets.get(row.budget_id);
  const said: LimitsRow = {
    spend: row.spend,
    max_budget: row.max_budget ?? shared?.max_budget,
    budget_duration: row.budget_duration ?? shared?.budget_duration,
    tpm_limit: row.tpm_limit ?? shared?.tpm_limit,
    rpm_limit: row.rpm_limit ?? shared?.rpm_limit,
    max_parallel_requests: row.max_parallel_requests ?? shared?.max_parallel_requests,
  };
  return {
    requestsPerMinute: count(said.rpm_limit),
    tokensPerMinute: count(said.tpm_limit),
    concurrency: count(said.max_parallel_requests),
    budget: budgetOf(said, onDifference),
  };
}

/** A limit of 0 refuses all requests there and none here. */
function count(value: string | number | null | undefined): bigint {
  const number = Number(value ?? 0);
  if (value != null && number <= 0) return 1n;
  return Number.isSafeInteger(number) ? BigInt(number) : 0n;
}

function budgetOf(
  { max_budget: most, budget_duration: duration, spend }: LimitsRow,
  onDifference: (what: string) => void,
): CarriedLimits["budget"] {
  if (most == null || !Number.isFinite(most)) return undefined;
  const days = duration == null ? undefined : daysOf(duration);
  const fit = days === undefined ? undefined : WINDOWS.find(({ daysMax }) => days <= daysMax);
  if (fit === undefined) {
    if (duration != null)
      onDifference(`its budget per ${duration} has no such window here: what is left of it is a budget for good`);
    return { window: "total", nanos: atLeastOne(nanosOf(most) - spentNanos(spend)) };
  }
  if (!fit.equals.includes(days ?? 0))
    onDifference(`its budget per ${duration} is one per ${fit.window}, which is tighter`);
  if ((spend ?? 0) > 0)
    onDifference(`its budget per ${fit.window} starts anew: what it spent in the running period is not counted`);
  return { window: fit.window, nanos: atLeastOne(nanosOf(most)) };
}

/** No budget is written as 0, so that one that is used up leaves a nano-USD, which pays for no request. */
function atLeastOne(nanos: bigint): bigint {
  return nanos > 0n ? nanos : 1n;
}

function daysOf(duration: string): number | undefined {
  const [, number, unit = ""] = /^(\d{1,6})(s|mo|m|h|d|w)$/.exec(duration.trim()) ?? [];
  const days = UNIT_DAYS[unit];
  return number === undefined || days === undefined ? undefined : Number(number) * days;
}

function nanosOf(usd: number): bigint {
  return BigInt(Math.round(usd * NANOS));
}

/** LiteLLM adds up floating-point numbers: what it says is rounded up once. */
function spentNanos(usd: number | null | undefined): bigint {
  return BigInt(Math.ceil(Number(((usd ?? 0) * NANOS).toPrecision(15))));
}
