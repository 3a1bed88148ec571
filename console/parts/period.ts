/** The time that a page shows: named in its URL, in whole days of a time zone, to now, or between two moments. */
import { localTime, offsetMinutes, timeZoneNamed } from "../../src/base/time-zone.ts";
import { DAYS, type Days, type Given, textIn, wordIn } from "../search.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
/** Periods that end now and are shorter than a day. */
const LAST_MS = { "15m": 15 * MINUTE_MS, "1h": HOUR_MS, "6h": 6 * HOUR_MS } as const;
export type Last = keyof typeof LAST_MS;
export const LASTS: readonly Last[] = ["15m", "1h", "6h"];

/** What a URL says of it. Moments are UTC, such as 2026-11-22T10:00Z, so that a link is of the same time everywhere. */
export interface PeriodSearch {
  readonly days?: Days | undefined;
  readonly last?: Last | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function periodIn(given: Given): PeriodSearch {
  const days = DAYS.find((each) => each === Number(given["days"]));
  const last = wordIn(given, "last", LASTS);
  const [from, to] = [textIn(given, "from"), textIn(given, "to")];
  if (from !== undefined && to !== undefined && momentIn(from) < momentIn(to)) return { from, to };
  if (last !== undefined) return { last };
  return days === undefined ? {} : { days };
}

export interface Period {
  readonly startMs: number;
  /** Undefined: now. */
  readonly endMs: number | undefined;
  readonly zone: string;
}

/** `days` is the default. The end of a minute at most ago, so that the same question is not asked with each drawing. */
export function periodOf(now: Date, { from, to, last, days }: PeriodSearch, zone: string, otherwise: Days): Period {
  if (from !== undefined && to !== undefined) return { startMs: momentIn(from), endMs: momentIn(to), zone };
  const nowMs = now.getTime();
  if (last !== undefined) {
    const startMs = Math.floor((nowMs - LAST_MS[last]) / MINUTE_MS) * MINUTE_MS;
    return { startMs, endMs: undefined, zone };
  }
  const first = dayAfter(localDay(nowMs, zone), 1 - (days ?? otherwise));
  return { startMs: localMs(`${first}T00:00`, zone), endMs: undefined, zone };
}

/** As long, just before. */
export function periodBefore({ startMs, endMs, zone }: Period, now: Date): Period {
  const length = (endMs ?? Math.ceil(now.getTime() / MINUTE_MS) * MINUTE_MS) - startMs;
  return { startMs: startMs - length, endMs: startMs, zone };
}

/** NaN where it is none. */
function momentIn(text: string): number {
  return text.endsWith("Z") ? Date.parse(text) : Number.NaN;
}

export function momentText(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 16)}Z`;
}

export function zoneIn(given: Given): string | undefined {
  const zone = timeZoneNamed(textIn(given, "zone") ?? "");
  return zone === "UTC" ? undefined : zone;
}

export function ownZone(): string {
  return timeZoneNamed(new Intl.DateTimeFormat().resolvedOptions().timeZone) ?? "UTC";
}

/** A moment as sums name it, such as 2026-11-22T10:07+01:00. */
export function zonedTime(timeMs: number, zone: string): string {
  return zone === "UTC" ? momentText(timeMs) : localTime(timeMs, offsetMinutes(timeMs, zone));
}

export function localDay(timeMs: number, zone: string): string {
  return zonedTime(timeMs, zone).slice(0, 10);
}

export function dayAfter(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10);
}

/** The moment of a local time such as 2026-11-22T10:00. One that the clocks skip is an hour later. */
export function localMs(local: string, zone: string): number {
  const asUtc = Date.parse(`${local}Z`);
  const near = asUtc - offsetMinutes(asUtc, zone) * MINUTE_MS;
  return asUtc - offsetMinutes(near, zone) * MINUTE_MS;
}
