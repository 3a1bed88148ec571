/** The properties that requests are added up by, as small numbers within one chunk. */
import { DAY_MS } from "../base/day.js";
import { columnOf, type Part } from "./chunk.js";
import type { NameColumn } from "./columns.js";

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
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

const PERIODS: Readonly<Partial<Record<Dimension, number>>> = { day: DAY_MS, hour: 3_600_000, minute: 60_000 };

/** True of a property that is a stretch of time. */
export function isPeriod(dimension: Dimension): boolean {
  return PERIODS[dimension] !== undefined;
}

const COLUMN_OF: Readonly<Partial<Record<Dimension, NameColumn>>> = {
  account: "account",
  key: "key",
  model: "model",
  upstream: "upstream",
  user: "endUser",
  tag: "tags",
  reason: "reason",
};

/** The values of one property in a chunk. */
export interface Codes {
  /** The code of each row, below `span`; undefined where all have 0. */
  readonly of: Int32Array | undefined;
  readonly span: number;
  nameOf(code: number): string;
}

export function codesOf(facts: Part, dimension: Dimension, count: number): Codes {
  const periodMs = PERIODS[dimension];
  if (periodMs !== undefined) return periodCodes(facts, dimension, periodMs, count);
  const { base, cells } = columnOf(facts, COLUMN_OF[dimension] ?? "model");
  const nameOf = (code: number): string => {
    const name = facts.texts.at(base + code);
    // All tags of a request together are one group, so that the sum of all groups is the whole.
    return dimension === "tag" ? name.replaceAll("\n", ", ") : name;
  };
  if (cells === undefined) return { of: undefined, span: 1, nameOf };
  const codes = new Int32Array(count);
  codes.set(cells);
  return { of: codes, span: spanOf(codes), nameOf };
}

function periodCodes(facts: Part, dimension: Dimension, periodMs: number, count: number): Codes {
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

/** The start of a period, as far as the dimension tells it. */
export function periodName(timeMs: number, dimension: Dimension): string {
  const text = new Date(timeMs).toISOString();
  return dimension === "day" ? text.slice(0, 10) : `${text.slice(0, 16)}Z`;
}
