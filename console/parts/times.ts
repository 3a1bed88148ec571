/** The places of charts over a period, as sums name them. */
import { words } from "../copy/en.ts";
import { shortUtcDay, shortUtcHour } from "../format.ts";
import type { RequestSearch } from "../search.ts";
import { DAY_MS, dayAfter, localDay, localMs, momentText, type Period, zonedTime } from "./period.ts";

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const PLACES_MAX = 400;

type Step = "day" | "hour" | "quarter_hour" | "minute";
const STEP_MS = { day: DAY_MS, hour: HOUR_MS, quarter_hour: QUARTER_MS, minute: MINUTE_MS } as const;

export interface Times {
  readonly by: Step;
  /** As the sums name them, oldest first. */
  readonly places: readonly string[];
  readonly placeName: string;
  readonly short: (place: string) => string;
  /** What the period is to a question about usage. */
  readonly asked: { readonly startTime: Date; readonly endTime?: Date; readonly timeZone: string };
  readonly lengthMs: number;
  /** The requests that ended in one of the places, of those only that `only` leaves. */
  readonly behind: (place: string, only?: RequestSearch) => RequestSearch;
  /** When one place begins and another one ends. */
  readonly between: (first: string, last: string) => Required<Pick<RequestSearch, "from" | "to">>;
}

export function timesOf(now: Date, { startMs, endMs, zone }: Period): Times {
  const lastMs = endMs ?? now.getTime();
  const lengthMs = Math.max(lastMs - startMs, MINUTE_MS);
  const by = stepOf(endMs === undefined ? Math.max(lengthMs, HOUR_MS / 4) : lengthMs);
  const startOf = (place: string): number => (by === "day" ? localMs(`${place}T00:00`, zone) : Date.parse(place));
  const endOf = (place: string): number =>
    by === "day" ? localMs(`${dayAfter(place, 1)}T00:00`, zone) : Date.parse(place) + STEP_MS[by];
  const between: Times["between"] = (first, last) => ({
    from: momentText(startOf(first)),
    to: momentText(endOf(last)),
  });
  return {
    by,
    places: by === "day" ? daysOf(startMs, lastMs, zone) : placesOf(startMs, lastMs, by, zone),
    placeName: words.range.places[by](zone),
    short: by === "day" ? shortUtcDay : shortUtcHour,
    asked: {
      startTime: new Date(startMs),
      ...(endMs === undefined ? {} : { endTime: new Date(endMs) }),
      timeZone: zone === "UTC" ? "" : zone,
    },
    lengthMs,
    behind: (place, only) => ({ ...between(place, place), ...only }),
    between,
  };
}

function stepOf(lengthMs: number): Step {
  if (lengthMs <= 2 * HOUR_MS) return "minute";
  if (lengthMs <= 12 * HOUR_MS) return "quarter_hour";
  return lengthMs <= 4 * DAY_MS ? "hour" : "day";
}

function daysOf(startMs: number, lastMs: number, zone: string): readonly string[] {
  const last = localDay(lastMs - 1, zone);
  const days: string[] = [];
  for (let day = localDay(startMs, zone); day <= last && days.length < PLACES_MAX; day = dayAfter(day, 1))
    days.push(day);
  return days;
}

/** Hours of a zone that is off by a part of an hour begin within an hour of UTC. */
function placesOf(startMs: number, lastMs: number, by: Exclude<Step, "day">, zone: string): readonly string[] {
  const stepMs = Math.min(STEP_MS[by], zone === "UTC" ? HOUR_MS : QUARTER_MS);
  const places = new Set<string>();
  for (let atMs = Math.floor(startMs / stepMs) * stepMs; atMs < lastMs; atMs += stepMs) {
    const text = zonedTime(atMs, zone);
    places.add(by === "hour" ? `${text.slice(0, 13)}:00${text.slice(16)}` : text);
  }
  return [...places];
}
