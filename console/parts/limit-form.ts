/** What a person types into the fields of budgets and limits, of a key or an account, and what it stands for. */
import type { TypedAmount } from "./large-amounts.tsx";
import { parseMoney, parseWhole, typedMoney, wrongMoney, wrongWhole } from "../typed.ts";

export const COUNTS = ["requestsPerMinute", "tokensPerMinute", "concurrency"] as const;
export const AMOUNTS = [
  "budgetDayNanos",
  "budgetWeekNanos",
  "budgetMonthNanos",
  "budgetQuarterNanos",
  "budgetTotalNanos",
  "requestCostMaxNanos",
] as const;
const ALL = [...AMOUNTS, ...COUNTS];

export type LimitName = (typeof ALL)[number];
/** Each as it was typed. */
export type TypedLimits = Readonly<Record<LimitName, string>>;
/** Zero is none. */
export type Limits = Readonly<Record<LimitName, bigint>>;

export const NO_LIMITS: TypedLimits = {
  requestsPerMinute: "",
  tokensPerMinute: "",
  concurrency: "",
  budgetDayNanos: "",
  budgetWeekNanos: "",
  budgetMonthNanos: "",
  budgetQuarterNanos: "",
  budgetTotalNanos: "",
  requestCostMaxNanos: "",
};

export function typedLimits(limits: Limits): TypedLimits {
  const number = (value: bigint): string => (value === 0n ? "" : value.toString());
  return {
    requestsPerMinute: number(limits.requestsPerMinute),
    tokensPerMinute: number(limits.tokensPerMinute),
    concurrency: number(limits.concurrency),
    budgetDayNanos: typedMoney(limits.budgetDayNanos),
    budgetWeekNanos: typedMoney(limits.budgetWeekNanos),
    budgetMonthNanos: typedMoney(limits.budgetMonthNanos),
    budgetQuarterNanos: typedMoney(limits.budgetQuarterNanos),
    budgetTotalNanos: typedMoney(limits.budgetTotalNanos),
    requestCostMaxNanos: typedMoney(limits.requestCostMaxNanos),
  };
}

export function areRight(typed: TypedLimits): boolean {
  return (
    COUNTS.every((name) => wrongWhole(typed[name]) === undefined) &&
    AMOUNTS.every((name) => wrongMoney(typed[name]) === undefined)
  );
}

/** The amounts, each beside what it was. */
export function amountsOf(typed: TypedLimits, before: TypedLimits): readonly TypedAmount[] {
  return AMOUNTS.map((name) => ({
    kind: name,
    nanos: parseMoney(typed[name]),
    before: parseMoney(before[name]) ?? 0n,
  }));
}

/** Of what is right. */
export function limitsOf(typed: TypedLimits): Limits {
  const number = (text: string): bigint => parseWhole(text) ?? 0n;
  const amount = (text: string): bigint => parseMoney(text) ?? 0n;
  return {
    requestsPerMinute: number(typed.requestsPerMinute),
    tokensPerMinute: number(typed.tokensPerMinute),
    concurrency: number(typed.concurrency),
    budgetDayNanos: amount(typed.budgetDayNanos),
    budgetWeekNanos: amount(typed.budgetWeekNanos),
    budgetMonthNanos: amount(typed.budgetMonthNanos),
    budgetQuarterNanos: amount(typed.budgetQuarterNanos),
    budgetTotalNanos: amount(typed.budgetTotalNanos),
    requestCostMaxNanos: amount(typed.requestCostMaxNanos),
  };
}

/** The limits that a person changed, and their names as the mask of an update says them. */
export function changedLimits(
  before: TypedLimits,
  after: TypedLimits,
): { readonly settings: Partial<Limits>; readonly mask: string } {
  const limits = limitsOf(after);
  const names = ALL.filter((name) => before[name] !== after[name]);
  const settings = Object.fromEntries(names.map((name) => [name, limits[name]]));
  return { settings, mask: names.map(maskName).join(",") };
}

/** As a mask of the protocol says it, such as `budget_day_nanos`. */
export function maskName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
