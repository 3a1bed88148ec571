/** The operator's own account has no money and needs none: alerts of balances leave it out, unless they name it. */
import { expect, test } from "vitest";
import { accountReadings, OPERATOR_ACCOUNT_ID } from "../../src/alerts/money-readings.js";
import type { AlertRow } from "../../src/alerts/rows.js";
import { AlertKind, AlertSettings } from "../../src/api/index.js";

const row = (id: string) => ({
  id,
  available_nanos: 0n,
  week_nanos: 0n,
  week_first_day: "",
  day_nanos: 0n,
  month_nanos: 0n,
  spent_nanos: 0n,
  budget_day_nanos: 10n,
  budget_month_nanos: 0n,
  budget_total_nanos: 0n,
});

function subjects(id: string, settings: Partial<AlertSettings>): readonly string[] {
  const alert = { id: "a", accountId: "", settings: { ...AlertSettings.decode(new Uint8Array()), ...settings } };
  // As much of an alert as a reading needs.
  return accountReadings(alert as unknown as AlertRow, row(id), 0).map(({ subject }) => subject);
}

const LOW = { kind: AlertKind.ALERT_KIND_BALANCE_LOW, amountNanos: 5n };
const LASTS = { kind: AlertKind.ALERT_KIND_BALANCE_DAYS, days: 3 };
const SHARE = { kind: AlertKind.ALERT_KIND_BUDGET_SHARE, percent: 90 };

test.each([
  { what: "a low balance of a customer", id: "acme", settings: LOW, count: 1 },
  { what: "a low balance of the operator", id: OPERATOR_ACCOUNT_ID, settings: LOW, count: 0 },
  { what: "how long the operator's lasts", id: OPERATOR_ACCOUNT_ID, settings: LASTS, count: 0 },
  {
    what: "a low balance of the operator, asked for by name",
    id: OPERATOR_ACCOUNT_ID,
    settings: { ...LOW, watchedAccountId: OPERATOR_ACCOUNT_ID },
    count: 1,
  },
  { what: "a budget of the operator", id: OPERATOR_ACCOUNT_ID, settings: SHARE, count: 1 },
])("$what has $count readings", ({ id, settings, count }) => {
  expect(subjects(id, settings)).toHaveLength(count);
});
