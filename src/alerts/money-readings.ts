/** Readings of accounts: balances, budgets and spending, a page of accounts at a time. */
import { dayNumber } from "../base/day.js";
import { AlertKind } from "../api/index.js";
import { formatUsd, lesser } from "../base/money.js";
import type { Reading } from "./judge.js";
import { type AlertRow, type Columns, nanos, text } from "./rows.js";

/** What the operator's own key belongs to. It has no money, and needs none. */
export const OPERATOR_ACCOUNT_ID = "operator";

/** How far the other way a subject must be before it is over, in hundredths. */
const MARGIN = 10n;
const DAYS_MAX = 36_500n;

/** The kinds that look at accounts. */
export const ACCOUNT_KINDS: ReadonlySet<AlertKind> = new Set([
  AlertKind.ALERT_KIND_BALANCE_LOW,
  AlertKind.ALERT_KIND_BALANCE_DAYS,
  AlertKind.ALERT_KIND_BUDGET_SHARE,
  AlertKind.ALERT_KIND_SPEND_RISE,
]);

/** True where the alert watches this account. */
export function watchesAccount({ accountId, settings }: AlertRow, id: string): boolean {
  return (accountId === "" || accountId === id) && ["", id].includes(settings.watchedAccountId);
}

/** What one alert reads of one account's row. */
export function accountReadings(alert: AlertRow, row: Columns, nowMs: number): readonly Reading[] {
  if (isOfNobody(alert, row)) return [];
  switch (alert.settings.kind) {
    case AlertKind.ALERT_KIND_BALANCE_LOW:
      return [balanceReading(alert, row)];
    case AlertKind.ALERT_KIND_BALANCE_DAYS:
      return [daysReading(alert, row, nowMs)];
    case AlertKind.ALERT_KIND_BUDGET_SHARE:
      return alert.settings.keyId === "" ? budgetReadings(alert, accountBudgets(row), accountOf(row)) : [];
    case AlertKind.ALERT_KIND_SPEND_RISE:
      return riseReadings(alert, row, nowMs);
    default:
      return [];
  }
}

/** A balance of the operator's own account, where the alert does not ask for just that one. */
function isOfNobody({ accountId, settings }: AlertRow, row: Columns): boolean {
  const { kind, watchedAccountId } = settings;
  const isOfBalance = kind === AlertKind.ALERT_KIND_BALANCE_LOW || kind === AlertKind.ALERT_KIND_BALANCE_DAYS;
  if (!isOfBalance || text(row, "id") !== OPERATOR_ACCOUNT_ID) return false;
  return accountId !== OPERATOR_ACCOUNT_ID && watchedAccountId !== OPERATOR_ACCOUNT_ID;
}

function balanceReading({ settings: { amountNanos } }: AlertRow, row: Columns): Reading {
  const available = nanos(row, "available_nanos");
  return {
    ...accountOf(row),
    isMet: available < amountNanos,
    isOver: available >= amountNanos + (amountNanos * MARGIN) / 100n,
    message:
      `The account ${text(row, "id")} has ${formatUsd(available)} available;` +
      ` the alert is at ${formatUsd(amountNanos)}.`,
    facts: { available_nanos: String(available), amount_nanos: String(amountNanos) },
  };
}

/** At the pace of the last seven days, or of those since the first spending in them. */
function daysReading({ settings: { days } }: AlertRow, row: Columns, nowMs: number): Reading {
  const available = nanos(row, "available_nanos");
  const paceNanos = nanos(row, "week_nanos") / daysOfWeek(row, nowMs);
  // Below a pace of nothing it lasts for ever.
  const left = paceNanos <= 0n ? DAYS_MAX : lesser(available / paceNanos, DAYS_MAX);
  return {
    ...accountOf(row),
    isMet: left < BigInt(days),
    isOver: left * 100n >= BigInt(days) * (100n + MARGIN),
    message:
      `The account ${text(row, "id")} has ${formatUsd(available)} available, which lasts for ${left} days at` +
      ` ${formatUsd(paceNanos)} a day; the alert is at ${days}.`,
    facts: { available_nanos: String(available), pace_nanos: String(paceNanos), days_left: String(left) },
  };
}

/** What is spent today against the average day before. An account without a day before has nothing to compare with. */
function riseReadings({ settings: { percent } }: AlertRow, row: Columns, nowMs: number): readonly Reading[] {
  const average = nanos(row, "week_nanos") / daysOfWeek(row, nowMs);
  if (average <= 0n) return [];
  const today = nanos(row, "day_nanos");
  const share = (today * 100n) / average;
  const about = accountOf(row);
  return [
    {
      ...about,
      isMet: share >= BigInt(percent),
      // Tomorrow begins with nothing, and is another day to tell of.
      isOver: share < BigInt(percent),
      message:
        `The account ${text(row, "id")} spent ${formatUsd(today)} today, ${share} % of its average day of the week` +
        ` before, ${formatUsd(average)}; the alert is at ${percent} %.`,
      facts: { today_nanos: String(today), average_nanos: String(average), percent: String(share) },
    },
  ];
}

export interface Budget {
  readonly period: "day" | "month" | "total";
  readonly limitNanos: bigint;
  readonly usedNanos: bigint;
}

function accountBudgets(row: Columns): readonly Budget[] {
  return [
    { period: "day", limitNanos: nanos(row, "budget_day_nanos"), usedNanos: nanos(row, "day_nanos") },
    { period: "month", limitNanos: nanos(row, "budget_month_nanos"), usedNanos: nanos(row, "month_nanos") },
    { period: "total", limitNanos: nanos(row, "budget_total_nanos"), usedNanos: nanos(row, "spent_nanos") },
  ];
}

export interface About {
  readonly subject: string;
  readonly subjectAccountId: string;
}

function accountOf(row: Columns): About {
  const id = text(row, "id");
  return { subject: `account ${id}`, subjectAccountId: id };
}

/** One reading for each budget that there is. */
export function budgetReadings(
  { settings: { percent } }: AlertRow,
  budgets: readonly Budget[],
  about: About,
): readonly Reading[] {
  return budgets
    .filter(({ limitNanos }) => limitNanos > 0n)
    .map(({ period, limitNanos, usedNanos }) => {
      const share = (usedNanos * 100n) / limitNanos;
      return {
        subject: `${about.subject}, ${period}`,
        subjectAccountId: about.subjectAccountId,
        isMet: share >= BigInt(percent),
        // What is held and given back is part of it, so it goes down a little all the time.
        isOver: share * 100n < BigInt(percent) * (100n - MARGIN),
        message:
          `The ${about.subject} used ${share} % of its budget of ${formatUsd(limitNanos)}` +
          ` (${period}); the alert is at ${percent} %.`,
        facts: {
          budget: period,
          used_nanos: String(usedNanos),
          limit_nanos: String(limitNanos),
          percent: String(share),
        },
      };
    });
}

/** How many of the seven days before today have been since its first spending in them, at least one. */
function daysOfWeek(row: Columns, nowMs: number): bigint {
  const first = Date.parse(`${text(row, "week_first_day")}T00:00:00Z`);
  if (Number.isNaN(first)) return 7n;
  return BigInt(Math.min(7, Math.max(1, dayNumber(nowMs) - dayNumber(first))));
}
