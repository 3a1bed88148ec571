/** Local times of IANA time zones. */

/** Offsets of today's zones are whole quarter-hours, and change at one. */
export const QUARTER_HOUR_MS = 900_000;
const MINUTE_MS = 60_000;
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d))?/;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The usual spelling of a zone's name; undefined if there is no such zone. Offsets such as +01:00 are no names. */
export function timeZoneNamed(name: string): string | undefined {
  if (!/^[a-z]/i.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** How far local time is ahead of UTC, in minutes. `zone` is a name that `timeZoneNamed` knows. */
export function offsetMinutes(timeMs: number, zone: string): number {
  const [, sign, hours = "0", minutes = "0"] = OFFSET.exec(formatOf(zone).format(timeMs)) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
}

/** A moment such as 2026-11-22T10:07+01:00. */
export function localTime(timeMs: number, offset: number): string {
  const local = new Date(timeMs + offset * MINUTE_MS).toISOString().slice(0, 16);
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60].map(twoDigits);
  return `${local}${offset < 0 ? "-" : "+"}${hours}:${minutes}`;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone) ?? new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, known);
  return known;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
