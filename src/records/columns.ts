/** The columns of records: numbers, names that come again and again, and texts that do not. */
import { type Affinity, AFFINITY_STATES, SESSION_SOURCES } from "../api/affinity.js";
import { type CacheMarker, CACHE_MARKERS } from "../api/cache-marks.js";
import { USAGE_FIELDS } from "../api/usage.js";
import { REQUEST_TOTAL_MS_MAX } from "../base/timeout.js";

/**
 * How a request went, in numbers. `createTimeMs` is when money was set aside for it, as the ledger says, else when it
 * came: the request counts in that minute, hour and day. Times that something took are in tenths of a millisecond and
 * one above, so that zero is none.
 */
export const NUMBERS = [
  "endTimeMs",
  "createTimeMs",
  "flags",
  "status",
  "attempts",
  "usageSource",
  "total",
  "queue",
  "firstToken",
  "upstreamTime",
  "costNanos",
  "chargedNanos",
  "operatorCostNanos",
  "clampedTo",
  "cacheSavedNanos",
  ...USAGE_FIELDS,
] as const;
/**
 * Columns whose values stand in the chunk's list of names. The tags of a row are one name, with line ends between, and
 * so are its meters, as `metersText` writes them, and its changed parameters, as `parametersText` does.
 */
export const NAMES = [
  "account",
  "key",
  "model",
  "askedModel",
  "upstream",
  "upstreamModel",
  "reason",
  "path",
  "format",
  "endUser",
  "tags",
  "client",
  "address",
  "meters",
  "parameters",
  "node",
] as const;
export const TEXTS = ["id", "session", "clientRequestId", "detail"] as const;
export const COLUMNS = [...NUMBERS, ...NAMES, ...TEXTS] as const;

export type NumberColumn = (typeof NUMBERS)[number];
export type NameColumn = (typeof NAMES)[number];
export type ColumnName = (typeof COLUMNS)[number];

/** Bits of `flags`. */
export const FLAG = { streamed: 1, replayed: 2, answered: 4, costKnown: 8, adopted: 16 } as const;

/** Above these bits stands what became of its affinity, and above that what named the session; each from 1, 0: none. */
const AFFINITY_UNIT = 32;
const SESSION_SOURCE_UNIT = AFFINITY_UNIT * (AFFINITY_STATES.length + 1);
/** Above that stands who marked the prompt for caches. */
const CACHE_MARKS_UNIT = SESSION_SOURCE_UNIT * (SESSION_SOURCES.length + 1);

export function affinityFlags(affinity: Affinity | undefined): number {
  if (affinity === undefined) return 0;
  const { state, source } = affinity;
  return (
    AFFINITY_UNIT * (AFFINITY_STATES.indexOf(state) + 1) + SESSION_SOURCE_UNIT * (SESSION_SOURCES.indexOf(source) + 1)
  );
}

export function affinityIn(flags: number): Affinity | undefined {
  const state = AFFINITY_STATES[(Math.floor(flags / AFFINITY_UNIT) % (AFFINITY_STATES.length + 1)) - 1];
  const source = SESSION_SOURCES[(Math.floor(flags / SESSION_SOURCE_UNIT) % (SESSION_SOURCES.length + 1)) - 1];
  return state === undefined || source === undefined ? undefined : { state, source };
}

export function cacheMarksFlags(marker: CacheMarker | undefined): number {
  return marker === undefined ? 0 : CACHE_MARKS_UNIT * (CACHE_MARKERS.indexOf(marker) + 1);
}

export function cacheMarksIn(flags: number): CacheMarker | undefined {
  return CACHE_MARKERS[Math.floor(flags / CACHE_MARKS_UNIT) - 1];
}

/** A request ends so long after its id was made at most, so that its record is found by either time. */
export const REQUEST_MS_MAX = REQUEST_TOTAL_MS_MAX + 100_000;
/** So far the clock of a front end elsewhere, which makes ids, may be ahead of the one that records go by. */
export const ID_AHEAD_MS = 60_000;
/** The same after money was set aside for it, which may come a while after its id. */
const HELD_MS_MAX = REQUEST_TOTAL_MS_MAX + 60_000;

/** The end of a request as its record has it, whatever a clock did meanwhile, and however late recovery came to it. */
export function recordedEnd(createTimeMs: number, endTimeMs: number): number {
  return Math.max(createTimeMs, Math.min(endTimeMs, createTimeMs + HELD_MS_MAX));
}

/** What stands for what nobody knows, where money is grouped. */
export const UNKNOWN = "unknown";
/** What stands for the values that a question does not ask for one by one. */
export const OTHER = "other";

/** One record as rows of numbers and texts are made of it. */
export interface RecordRow extends Readonly<Record<NumberColumn, number>>, Readonly<Record<NameColumn, string>> {
  readonly id: string;
  readonly session: string;
  readonly clientRequestId: string;
  readonly detail: string;
}

/** A row without a value, to be filled: of many rows each new one with all columns at once is quicker than by name. */
export function emptyRow(): Record<NumberColumn, number> & Record<Exclude<ColumnName, NumberColumn>, string> {
  return { ...EMPTY };
}

/** A time in milliseconds as it is stored. */
export function storedTime(timeMs: number | undefined): number {
  return timeMs === undefined ? 0 : Math.round(timeMs * 10) + 1;
}

/** The time that is stored, in milliseconds; undefined where there is none. */
export function timeIn(stored: number): number | undefined {
  return stored === 0 ? undefined : (stored - 1) / 10;
}

// Each column has its kind's value of nothing.
const EMPTY = Object.fromEntries([
  ...NUMBERS.map((name) => [name, 0]),
  ...[...NAMES, ...TEXTS].map((name) => [name, ""]),
]) as RecordRow;
