/** Which records a question is about. */
import { UsageSource } from "../api/index.js";
import { type Chunk, columnOf, type Part, valueAt } from "./chunk.js";
import { FLAG, type NameColumn, type RecordRow, REQUEST_MS_MAX, storedTime } from "./columns.js";

/** How the ledger ended a request; uncharged is one that no money was set aside for. */
export type Charge = "settled" | "voided" | "expired" | "uncharged";

/** Absent is any. Times include both ends. */
export interface RecordFilter {
  readonly fromMs: number;
  readonly toMs: number;
  /** By exact name. */
  readonly names: Readonly<Partial<Record<Exclude<NameColumn, "tags">, string>>>;
  readonly tag?: string | undefined;
  /** What the ledger did with the money; the ledger has the last word. */
  readonly charge?: Charge | undefined;
  /** What did not end well. */
  readonly isFailed?: boolean | undefined;
  readonly statusMin?: number | undefined;
  readonly statusMax?: number | undefined;
  readonly costMinNanos?: number | undefined;
  readonly costMaxNanos?: number | undefined;
  readonly totalMinMs?: number | undefined;
  readonly totalMaxMs?: number | undefined;
  /** A part of an id: of the request, of the client's own, of the session. */
  readonly id?: string | undefined;
}

export type Test = (row: number) => boolean;

/** By which of its times a question finds a request: lists show when it ended, sums count when it was admitted. */
export type AskedTime = "endTimeMs" | "createTimeMs";

/** Whether all of a chunk is in the time that is asked for, as far as its ends tell that. */
export function isWithin(ends: Pick<Chunk, "fromMs" | "toMs">, { fromMs, toMs }: RecordFilter, by: AskedTime): boolean {
  return ends.fromMs - (by === "createTimeMs" ? REQUEST_MS_MAX : 0) >= fromMs && ends.toMs <= toMs;
}

/** A test of the chunk's rows; undefined where no row can pass. The texts are read only where ids are asked for. */
export function testOf(chunk: Chunk, filter: RecordFilter, by: AskedTime = "endTimeMs"): Test | undefined {
  const tests: Test[] = [];
  const { facts } = chunk;
  const range = (name: Parameters<typeof columnOf>[1], least: number, most: number): void => {
    const column = columnOf(facts, name);
    tests.push((row) => {
      const value = valueAt(column, row);
      return value >= least && value <= most;
    });
  };
  if (!isWithin(chunk, filter, by)) range(by, filter.fromMs, filter.toMs);
  for (const [name, wanted] of Object.entries(filter.names) as [NameColumn, string][]) {
    const place = facts.texts.placeOf(wanted);
    if (place < 0) return undefined;
    range(name, place, place);
  }
  if (filter.tag !== undefined) {
    const { tag } = filter;
    const isTagged = (place: number): boolean => facts.texts.at(place).split("\n").includes(tag);
    const having = new Set([...facts.texts.placesWith(tag)].filter(isTagged));
    if (having.size === 0) return undefined;
    const tags = columnOf(facts, "tags");
    tests.push((row) => having.has(valueAt(tags, row)));
  }
  if (filter.isFailed === true) {
    const reason = columnOf(facts, "reason");
    tests.push((row) => valueAt(reason, row) !== 0);
  }
  if (filter.statusMin !== undefined || filter.statusMax !== undefined)
    range("status", filter.statusMin ?? 0, filter.statusMax ?? Infinity);
  if (filter.costMinNanos !== undefined || filter.costMaxNanos !== undefined)
    range("costNanos", filter.costMinNanos ?? 0, filter.costMaxNanos ?? Infinity);
  if (filter.totalMinMs !== undefined || filter.totalMaxMs !== undefined)
    range("total", storedTime(filter.totalMinMs ?? 0), storedTime(filter.totalMaxMs ?? Infinity));
  if (filter.charge !== undefined) {
    const { charge } = filter;
    const [flags, source] = [columnOf(facts, "flags"), columnOf(facts, "usageSource")];
    const status = columnOf(facts, "status");
    const factsAt = (row: number): ChargeFacts => ({
      flags: valueAt(flags, row),
      usageSource: valueAt(source, row),
      status: valueAt(status, row),
    });
    tests.push((row) => mayBe(charge, factsAt(row)));
  }
  if (filter.id !== undefined) {
    const having = chunk.texts.texts.placesWith(filter.id);
    if (having.size === 0) return undefined;
    const columns = ID_COLUMNS.map((name) => columnOf(chunk.texts, name));
    tests.push((row) => columns.some((column) => having.has(valueAt(column, row))));
  }
  const [first = everyRow, ...others] = tests;
  return others.length === 0 ? first : (row) => first(row) && others.every((test) => test(row));
}

/** The test of whoever asks for all: it need not be called. */
export const everyRow: Test = () => true;

const ID_COLUMNS = ["id", "clientRequestId", "session"] as const;

/** Refused is what failed before money was set aside for it. */
export function isRefused(facts: Part, row: number): boolean {
  const flags = valueAt(columnOf(facts, "flags"), row);
  return valueAt(columnOf(facts, "reason"), row) !== 0 && (flags & (FLAG.adopted | FLAG.answered)) === 0;
}

/** What of a record says how the ledger may have ended its request. */
export type ChargeFacts = Pick<RecordRow, "flags" | "usageSource" | "status">;

/**
 * False where no money was ever set aside for the request. What failed of the gateway itself, or of its database, may
 * have been held all the same, and was freed then.
 */
export function mayBeHeld({ flags, status }: Pick<ChargeFacts, "flags" | "status">): boolean {
  return (flags & FLAG.answered) !== 0 || status >= 500;
}

/** Of what recovery freed nobody knows more than that. */
function mayBe(charge: Charge, facts: ChargeFacts): boolean {
  const { flags, usageSource } = facts;
  if ((flags & FLAG.answered) === 0) return charge === "uncharged" || (charge === "voided" && mayBeHeld(facts));
  if (charge === "settled") return isSettled(usageSource);
  const isFreed = usageSource === UsageSource.USAGE_SOURCE_UNSPECIFIED;
  if (charge === "uncharged") return false;
  return isFreed || (charge === "voided" && usageSource === UsageSource.USAGE_SOURCE_NONE);
}

/** True where the ledger counts the request, of those that money was set aside for: it was charged, if only nothing. */
export function isSettled(usageSource: number): boolean {
  return usageSource !== UsageSource.USAGE_SOURCE_NONE && usageSource !== UsageSource.USAGE_SOURCE_UNSPECIFIED;
}

/** The same of one record that is in no chunk yet. */
export function rowPasses(row: RecordRow, filter: RecordFilter): boolean {
  const { names, tag, costMinNanos = 0, costMaxNanos = Infinity, totalMinMs, totalMaxMs, id } = filter;
  const { isFailed = false, statusMin = 0, statusMax = Infinity } = filter;
  for (const [name, wanted] of Object.entries(names) as [NameColumn, string][]) if (row[name] !== wanted) return false;
  if (row.endTimeMs < filter.fromMs || row.endTimeMs > filter.toMs) return false;
  if (tag !== undefined && !row.tags.split("\n").includes(tag)) return false;
  if (isFailed && row.reason === "") return false;
  if (row.status < statusMin || row.status > statusMax) return false;
  if (row.costNanos < costMinNanos || row.costNanos > costMaxNanos) return false;
  if (totalMinMs !== undefined && row.total < storedTime(totalMinMs)) return false;
  if (totalMaxMs !== undefined && (row.total === 0 || row.total > storedTime(totalMaxMs))) return false;
  if (filter.charge !== undefined && !mayBe(filter.charge, row)) return false;
  return id === undefined || ID_COLUMNS.some((name) => row[name].includes(id));
}
