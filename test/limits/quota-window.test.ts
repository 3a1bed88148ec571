/** When the windows of quotas start and end, also where the clocks of a zone change. */
import { describe, expect, test } from "vitest";
import { QuotaPeriod } from "../../src/api/index.js";
import { isEndless, quotaWindow } from "../../src/limits/quota-window.js";
import { fc } from "../support/seeds.js";

const HOUR_MS = 3_600_000;
const { QUOTA_PERIOD_FIVE_HOURS, QUOTA_PERIOD_DAY, QUOTA_PERIOD_WEEK } = QuotaPeriod;
const { QUOTA_PERIOD_MONTH, QUOTA_PERIOD_QUARTER, QUOTA_PERIOD_TOTAL } = QuotaPeriod;
const BY_CALENDAR = [QUOTA_PERIOD_DAY, QUOTA_PERIOD_WEEK, QUOTA_PERIOD_MONTH, QUOTA_PERIOD_QUARTER] as const;
const ZONES = [
  "",
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Asuncion",
  "America/Havana",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
  "Africa/Cairo",
];

interface Row {
  readonly name: string;
  readonly period: QuotaPeriod;
  readonly at: string;
  readonly zone?: string;
  readonly hour?: number;
  readonly want: readonly [string, string];
}

describe("a window", () => {
  test.each<Row>([
    {
      name: "a UTC day",
      period: QUOTA_PERIOD_DAY,
      at: "2026-12-01T23:59:59Z",
      want: ["2026-12-01T00", "2026-12-02T00"],
    },
    {
      name: "a day that starts at six",
      period: QUOTA_PERIOD_DAY,
      at: "2026-12-01T05:59:59Z",
      hour: 6,
      want: ["2026-11-30T06", "2026-12-01T06"],
    },
    {
      name: "a day of 23 hours",
      period: QUOTA_PERIOD_DAY,
      at: "2026-03-29T12:00:00Z",
      zone: "Europe/Berlin",
      want: ["2026-03-28T23", "2026-03-29T22"],
    },
    {
      name: "a day of 25 hours",
      period: QUOTA_PERIOD_DAY,
      at: "2026-10-25T12:00:00Z",
      zone: "Europe/Berlin",
      want: ["2026-10-24T22", "2026-10-25T23"],
    },
    {
      name: "a day whose first hour is skipped",
      period: QUOTA_PERIOD_DAY,
      at: "2026-03-29T12:00:00Z",
      zone: "Europe/Berlin",
      hour: 2,
      want: ["2026-03-29T01", "2026-03-30T00"],
    },
    {
      name: "a week from Monday on",
      period: QUOTA_PERIOD_WEEK,
      at: "2026-12-06T23:00:00Z",
      zone: "America/New_York",
      want: ["2026-11-30T05", "2026-12-07T05"],
    },
    {
      name: "a month of a zone ahead of UTC",
      period: QUOTA_PERIOD_MONTH,
      at: "2026-12-31T11:00:00Z",
      zone: "Pacific/Kiritimati",
      want: ["2026-12-31T10", "2027-01-31T10"],
    },
    {
      name: "a quarter",
      period: QUOTA_PERIOD_QUARTER,
      at: "2026-05-15T00:00:00Z",
      zone: "Europe/Berlin",
      want: ["2026-03-31T22", "2026-06-30T22"],
    },
    {
      name: "five hours from the request on",
      period: QUOTA_PERIOD_FIVE_HOURS,
      at: "2026-12-01T20:00:00Z",
      zone: "Europe/Berlin",
      want: ["2026-12-01T20", "2026-12-02T01"],
    },
  ])("$name", ({ period, at, zone: timeZone = "", hour = 0, want }) => {
    const { startMs, endMs } = quotaWindow(period, Date.parse(at), { timeZone, hour });
    expect([startMs, endMs].map((ms) => new Date(ms).toISOString())).toEqual(want.map((text) => `${text}:00:00.000Z`));
  });

  test("a total never ends", () => {
    const { startMs, endMs } = quotaWindow(QUOTA_PERIOD_TOTAL, Date.UTC(2026, 11), { timeZone: "", hour: 0 });
    expect([startMs, isEndless(endMs)]).toEqual([0, true]);
  });
});

test("windows of every zone hold their times, and each starts where the one before ends", () => {
  const times = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) });
  const hours = fc.integer({ min: 0, max: 23 });
  const one = [fc.constantFrom(...BY_CALENDAR), fc.constantFrom(...ZONES), times, hours] as const;
  fc.assert(
    fc.property(...one, (period, timeZone, timeMs, hour) => {
      const { startMs, endMs } = quotaWindow(period, timeMs, { timeZone, hour });
      expect(startMs <= timeMs && timeMs < endMs).toBe(true);
      expect(quotaWindow(period, startMs, { timeZone, hour })).toEqual({ startMs, endMs });
      expect(quotaWindow(period, endMs - 1, { timeZone, hour })).toEqual({ startMs, endMs });
      expect(quotaWindow(period, endMs, { timeZone, hour }).startMs).toBe(endMs);
      if (period === QUOTA_PERIOD_DAY) expect(Math.abs(endMs - startMs - 24 * HOUR_MS) <= HOUR_MS).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});
