/** Readings of keys: their budgets, their ends, and whether anybody uses them. */
import { DAY_MS, dayNumber } from "../base/day.js";
import { AlertKind, KeySettings } from "../api/index.js";
import type { Reading } from "./judge.js";
import { type Budget, budgetReadings } from "./money-readings.js";
import { type AlertRow, bytes, type Columns, nanos, number, text } from "./rows.js";

/** The kinds that look at keys. */
export const KEY_KINDS: ReadonlySet<AlertKind> = new Set([
  AlertKind.ALERT_KIND_BUDGET_SHARE,
  AlertKind.ALERT_KIND_KEY_UNUSED,
  AlertKind.ALERT_KIND_KEY_EXPIRING,
]);

export function watchesKey({ accountId, settings }: AlertRow, id: string, keyAccountId: string): boolean {
  const isOfAccount = accountId === "" || accountId === keyAccountId;
  return isOfAccount && ["", keyAccountId].includes(settings.watchedAccountId) && ["", id].includes(settings.keyId);
}

/** What one alert reads of one key's row. */
export function keyReadings(alert: AlertRow, row: Columns, nowMs: number): readonly Reading[] {
  const settings = KeySettings.decode(bytes(row, "settings") ?? new Uint8Array());
  const about = { subject: `key ${text(row, "id")}`, subjectAccountId: text(row, "account_id") };
  const named = settings.name === "" ? about.subject : `${about.subject} (${settings.name})`;
  const { days } = alert.settings;
  switch (alert.settings.kind) {
    case AlertKind.ALERT_KIND_BUDGET_SHARE:
      return budgetReadings(alert, keyBudgets(settings, row), about);
    case AlertKind.ALERT_KIND_KEY_UNUSED: {
      const unused = unusedDays(row, nowMs);
      const message = `The ${named} was not used for ${unused} days; the alert is at ${days}.`;
      return [{ ...about, isMet: unused >= days, isOver: unused < days, message, facts: { days: String(unused) } }];
    }
    case AlertKind.ALERT_KIND_KEY_EXPIRING: {
      const { expireTime } = settings;
      // One that expired is over: nobody can be warned of it any more.
      if (expireTime === undefined || expireTime.getTime() <= nowMs) return [];
      const isMet = expireTime.getTime() - nowMs <= days * DAY_MS;
      const message = `The ${named} expires at ${expireTime.toISOString()}.`;
      return [{ ...about, isMet, isOver: !isMet, message, facts: { expire_time: expireTime.toISOString() } }];
    }
    default:
      return [];
  }
}

function keyBudgets(settings: KeySettings, row: Columns): readonly Budget[] {
  return [
    { period: "day", limitNanos: settings.budgetDayNanos, usedNanos: nanos(row, "day_nanos") },
    { period: "month", limitNanos: settings.budgetMonthNanos, usedNanos: nanos(row, "month_nanos") },
    { period: "total", limitNanos: settings.budgetTotalNanos, usedNanos: nanos(row, "total_nanos") },
  ];
}

/**
 * Whole days since the day of its last request, or since it was made. A request that cost nothing is in no budget, and
 * the note of a key's last use is written behind: the later of the two counts.
 */
function unusedDays(row: Columns, nowMs: number): number {
  const paid = Date.parse(`${text(row, "last_day")}T00:00:00Z`);
  const usedMs = Math.max(Number.isNaN(paid) ? 0 : paid, number(row, "last_use_time_ms"));
  const sinceMs = Math.max(usedMs, number(row, "create_time_ms"));
  return Math.max(0, dayNumber(nowMs) - dayNumber(sinceMs));
}
