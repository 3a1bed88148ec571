/** The properties that requests are added up by, as small numbers within one chunk. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import { DAY_MS } from "../base/day.js";
import { localTime, offsetMinutes, QUARTER_HOUR_MS } from "../base/time-zone.js";
import { columnOf, type Part } from "./chunk.js";
import { type NameColumn, UNKNOWN } from "./columns.js";

export const DIMENSIONS = [
  "day",
  "hour",
  "minute",
  "account",
  "key",
  "model",
  "upstream",
  "user",
  "tag",
  "reason",
  "quarter_hour",
  "node",
] as const;
type NamedDimension = (typeof DIMENSIONS)[number];
type Period = Extract<NamedDimension, "day" | "hour" | "minute" | "quarter_hour">;
/** A property, a period of local time such as `day@Europe/Berlin`, or the value of one tag such as `tag=team`. */
export type Dimension = NamedDimension | `${Period}@${string}` | `tag=${string}`;

const PERIODS: Readonly<Partial<Record<string, number>>> = {
  day: DAY_MS,
  hour: 3_600_000,
  quarter_hour: QUARTER_HOUR_MS,
  minute: 60_000,
} satisfies Record<Period, number>;
const TAG_VALUE = "tag=";

/** True of a property that is a stretch of time. */
export function isPeriod(dimension: Dimension): dimension is Period | `${Period}@${string}` {
  return PERIODS[splitZone(dimension).period] !== undefined;
}

function splitZone(dimension: Dimension): { readonly period: string; readonly zone: string | undefined } {
  const [period = "", zone] = dimension.split("@", 2);
  return { period, zone };
}

const COLUMN_OF: Readonly<Partial<Record<Dimension, NameColumn>>> = {
  account: "account",
  key: "key",
  model: "model",
  upstream: "upstream",
  user: "endUser",
  tag: "tags",
  reason: "reason",
  node: "node",
};

/** The values of one property in a chunk. */
export interface Codes {
  /** The code of each row, below `span`; undefined where all have 0. */
  readonly of: Int32Array | undefined;
  readonly span: number;
  nameOf(code: number): string;
}

export function codesOf(facts: Part, dimension: Dimension, count: number): Codes {
  if (isPeriod(dimension)) return periodCodes(facts, dimension, count);
  const { base, cells } = columnOf(facts, COLUMN_OF[dimension] ?? "tags");
  const nameOf = (code: number): string => {
    const name = facts.texts.at(base + code);
    if (dimension.startsWith(TAG_VALUE)) return tagValueIn(name, dimension.slice(TAG_VALUE.length));
    // All tags of a request together are one group, so that the sum of all groups is the whole.
    return dimension === "tag" ? name.replaceAll("\n", ", ") : name;
  };
  if (cells === undefined) return { of: undefined, span: 1, nameOf };
  const codes = new Int32Array(count);
  codes.set(cells);
  return { of: codes, span: spanOf(codes), nameOf };
}

/** Of several values the first counts, so that the sum of all groups is the whole. What a crash lost stays unknown. */
function tagValueIn(tags: string, name: string): string {
  if (tags === UNKNOWN) return tags;
  const begin = `${name}=`;
  return (
    tags
      .split("\n")
      .find((tag) => tag.startsWith(begin))
      ?.slice(begin.length) ?? ""
  );
}

function periodCodes(facts: Part, dimension: Dimension, count: number): Codes {
  const { period, zone } = splitZone(dimension);
  const ownMs = PERIODS[period] ?? DAY_MS;
  // Local days and hours begin at a quarter-hour of UTC: those of one day have the same name.
  const periodMs = zone === undefined ? ownMs : Math.min(ownMs, QUARTER_HOUR_MS);
  const { base, cells } = columnOf(facts, "createTimeMs");
  const first = Math.floor(base / periodMs);
  const nameOf = (code: number): string => periodName((first + code) * periodMs, dimension);
  if (cells === undefined) return { of: undefined, span: 1, nameOf };
  const sinceMs = base - first * periodMs;
  const times = new Float64Array(count);
  times.set(cells);
  const codes = new Int32Array(count);
  for (let row = 0; row < count; row++) codes[row] = Math.floor(((times[row] ?? 0) + sinceMs) / periodMs);
  return { of: codes, span: spanOf(codes), nameOf };
}

function spanOf(codes: Int32Array): number {
  let most = 0;
  for (let row = 0; row < codes.length; row++) most = Math.max(most, codes[row] ?? 0);
  return most + 1;
}

/** A year of quarter-hours has 35,040; most questions are about some weeks. */
const OFFSETS_MAX = 20_000;
const offsets = new LRUCache<string, number>(boundedTo(OFFSETS_MAX));

function offsetAt(timeMs: number, zone: string): number {
  const quarter = Math.floor(timeMs / QUARTER_HOUR_MS);
  const name = `${quarter} ${zone}`;
  const known = offsets.get(name) ?? offsetMinutes(quarter * QUARTER_HOUR_MS, zone);
  offsets.set(name, known);
  return known;
}

/** The start of a period, as far as the dimension tells it. */
export function periodName(timeMs: number, dimension: Dimension): string {
  const { period, zone } = splitZone(dimension);
  const text =
    zone === undefined ? `${new Date(timeMs).toISOString().slice(0, 16)}Z` : localTime(timeMs, offsetAt(timeMs, zone));
  if (period === "day") return text.slice(0, 10);
  return period === "hour" ? `${text.slice(0, 13)}:00${text.slice(16)}` : text;
}
