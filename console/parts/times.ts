/** The time that charts are of: the last UTC days, or the hours of today. */
import { words } from "../copy/en.ts";
import { dayText, hourText, localMoment, shortUtcDay, shortUtcHour } from "../format.ts";
import type { Days, RequestSearch } from "../search.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Times {
  readonly by: "day" | "hour";
  /** As the sums name them, oldest first. */
  readonly places: readonly string[];
  readonly placeName: string;
  readonly short: (place: string) => string;
  readonly startTime: Date;
  /** The requests that ended in one of the places. */
  readonly behind: (place: string) => RequestSearch;
}

export function timesOf(now: Date, days: Days): Times {
  const startMs = Math.floor(now.getTime() / DAY_MS) * DAY_MS - (days - 1) * DAY_MS;
  const isHours = days === 1;
  const stepMs = isHours ? HOUR_MS : DAY_MS;
  const count = isHours ? DAY_MS / HOUR_MS : days;
  const starts = Array.from({ length: count }, (_, index) => new Date(startMs + index * stepMs));
  const places = starts.map(isHours ? hourText : dayText);
  return {
    by: isHours ? "hour" : "day",
    places,
    placeName: isHours ? words.overview.hour : words.overview.day,
    short: isHours ? shortUtcHour : shortUtcDay,
    startTime: new Date(startMs),
    behind: (place) => {
      const from = Math.max(0, places.indexOf(place)) * stepMs + startMs;
      return { from: localMoment(new Date(from)), to: localMoment(new Date(from + stepMs)) };
    },
  };
}
