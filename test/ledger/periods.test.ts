/** Weeks and quarters of budgets: when they start, and that holds of all their days count together. */
import { expect, test } from "vitest";
import { DAY_MS } from "../../src/base/day.js";
import { resetTimeMs, startDayOf } from "../../src/ledger/periods.js";
import type { LinePeriod } from "../../src/ledger/rows.js";
import { decide } from "../../src/ledger/state.js";
import { fc } from "../support/seeds.js";
import { periodOf } from "../money/plain-periods.js";
import { bookOf, creditOf, holdOf, settleOf } from "./operations.js";

const PERIODS = ["day", "week", "month", "quarter"] as const satisfies readonly LinePeriod[];
/** A Wednesday. */
const START_MS = Date.UTC(2026, 10, 25, 12);

test("a period starts on its first day and ends where the next one starts", () => {
  const moment = fc.integer({ min: Date.UTC(1999, 0, 1), max: Date.UTC(2101, 0, 1) });
  const property = fc.property(moment, fc.constantFrom(...PERIODS), (timeMs, period) => {
    const startDay = startDayOf(period, timeMs);
    expect(startDay).toBe(periodOf(period, timeMs).startDay);
    const endMs = resetTimeMs(period, timeMs) ?? 0;
    expect(startDayOf(period, endMs - 1)).toBe(startDay);
    expect(startDayOf(period, endMs)).toBe(new Date(endMs).toISOString().slice(0, 10));
    expect(endMs).toBeGreaterThan(timeMs);
  });
  fc.assert(property, { numRuns: 300 });
});

test.each([
  { period: "week", whose: "key", sameDays: 4, otherDays: 5 },
  { period: "week", whose: "account", sameDays: 4, otherDays: 5 },
  { period: "quarter", whose: "key", sameDays: 36, otherDays: 37 },
  { period: "quarter", whose: "account", sameDays: 36, otherDays: 37 },
] as const)("a budget of a $period of the $whose counts all its days", ({ period, whose, sameDays, otherDays }) => {
  const budget = { period, limitNanos: 10n };
  const book = bookOf(["acme"], { budgets: whose === "account" ? [budget] : [], requestCostMaxNanos: 0n });
  const budgets = whose === "key" ? [budget] : [];
  const holdAfter = (days: number, requestId: string) =>
    decide(book, holdOf({ requestId, amountNanos: 6n, budgets, nowMs: START_MS + days * DAY_MS }));
  decide(book, creditOf(100n));
  expect(holdAfter(0, "r1")).toEqual({ kind: "held", amountNanos: 6n });
  decide(book, settleOf({ costNanos: 6n }));
  const short = { kind: "budget_exceeded", owner: whose, period, limitNanos: 10n, remainingNanos: 4n, heldNanos: 0n };
  expect(holdAfter(sameDays, "r2")).toEqual({ ...short, neededNanos: 6n });
  expect(holdAfter(otherDays, "r3")).toEqual({ kind: "held", amountNanos: 6n });
});
