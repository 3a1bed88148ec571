/** The windows of quotas: when they start and end in a time zone. Pure. */
import { QuotaPeriod } from "../api/index.js";
import { DAY_MS } from "../base/day.js";
import { offsetMinutes } from "../base/time-zone.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const ROLLING_MS = 5 * HOUR_MS;
const WEEK_DAYS = 7;
const QUARTER_MONTHS = 3;
/** The last moment that a Date can say. */
const NEVER_MS = 8_640_000_000_000_000;

/** From `startMs` until before `endMs`. */
export interface QuotaWindow {
  readonly startMs: number;
  readonly endMs: number;
}

/** When days start. */
export interface DayStart {
  /** An IANA name; empty is UTC. */
  readonly timeZone: string;
  /** From 0 to 23. */
  readonly hour: number;
}

/** The window that a request opens at a time. A day has 23 or 25 hours where the clocks change. */
export function quotaWindow(period: QuotaPeriod, timeMs: number, { timeZone, hour }: DayStart): QuotaWindow {
  if (period === QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS) return { startMs: timeMs, endMs: timeMs + ROLLING_MS };
  if (period === QuotaPeriod.QUOTA_PERIOD_TOTAL) return { startMs: 0, endMs: NEVER_MS };
  const offset = offsets(timeZone);
  const wallMs = timeMs + offset(timeMs) - hour * HOUR_MS;
  const [fromMs, toMs] = wallDays(period, new Date(Math.floor(wallMs / DAY_MS) * DAY_MS));
  return { startMs: instantOf(fromMs + hour * HOUR_MS, offset), endMs: instantOf(toMs + hour * HOUR_MS, offset) };
}

/** True where a quota with this end never starts again. */
export function isEndless(endMs: number): boolean {
  return endMs === NEVER_MS;
}

/** The first day of the period that contains a day, and of the next one, as if the calendar were that of UTC. */
function wallDays(period: QuotaPeriod, day: Date): readonly [number, number] {
  const [year, month, dayMs] = [day.getUTCFullYear(), day.getUTCMonth(), day.getTime()];
  switch (period) {
    case QuotaPeriod.QUOTA_PERIOD_WEEK: {
      const mondayMs = dayMs - ((day.getUTCDay() + WEEK_DAYS - 1) % WEEK_DAYS) * DAY_MS;
      return [mondayMs, mondayMs + WEEK_DAYS * DAY_MS];
    }
    case QuotaPeriod.QUOTA_PERIOD_MONTH:
      return [Date.UTC(year, month), Date.UTC(year, month + 1)];
    case QuotaPeriod.QUOTA_PERIOD_QUARTER: {
      const first = month - (month % QUARTER_MONTHS);
      return [Date.UTC(year, first), Date.UTC(year, first + QUARTER_MONTHS)];
    }
    default:
      return [dayMs, dayMs + DAY_MS];
  }
}

/** How far the clocks of a zone are ahead of UTC at a moment, in milliseconds. */
type Offset = (timeMs: number) => number;

function offsets(timeZone: string): Offset {
  if (timeZone === "" || timeZone === "UTC") return () => 0;
  return (timeMs) => offsetMinutes(timeMs, timeZone) * MINUTE_MS;
}

/** The first moment at which the clocks show a time; where they skip it, the moment at which they skip it. */
function instantOf(wallMs: number, offset: Offset): number {
  const [before, after] = [wallMs - offset(wallMs - DAY_MS), wallMs - offset(wallMs + DAY_MS)];
  const [first, last] = before <= after ? [before, after] : [after, before];
  if (first + offset(first) === wallMs) return first;
  return last + offset(last) === wallMs ? last : before;
}
