/** Which records a question is about. */
import { type Chunk, columnOf, type Part, textAt, valueAt } from "./chunk.js";
import { FLAG, type NameColumn, type RecordRow, storedTime } from "./columns.js";

/** How a request ended, as the protocol's states name it. */
export type RecordState = "finished" | "failed" | "refused";

/** Absent is any. Times include both ends. */
export interface RecordFilter {
  readonly fromMs: number;
  readonly toMs: number;
  /** By exact name. */
  readonly names: Readonly<Partial<Record<Exclude<NameColumn, "tags">, string>>>;
  readonly tag?: string | undefined;
  readonly state?: RecordState | undefined;
  readonly status?: number | undefined;
  readonly costMinNanos?: number | undefined;
  readonly costMaxNanos?: number | undefined;
  readonly totalMinMs?: number | undefined;
  readonly totalMaxMs?: number | undefined;
  /** A part of an id: of the request, of the client's own, of the session. */
  readonly id?: string | undefined;
}

type Test = (row: number) => boolean;

/** A test of the chunk's rows; undefined where no row can pass. The texts are read only where ids are asked for. */
export function testOf(chunk: Chunk, filter: RecordFilter): Test | undefined {
  const tests: Test[] = [];
  const { facts } = chunk;
  const range = (name: Parameters<typeof columnOf>[1], least: number, most: number): void => {
    const column = columnOf(facts, name);
    tests.push((row) => {
      const value = valueAt(column, row);
      return value >= least && value <= most;
    });
  };
  if (chunk.fromMs < filter.fromMs || chunk.toMs > filter.toMs) range("endTimeMs", filter.fromMs, filter.toMs);
  for (const [name, wanted] of Object.entries(filter.names) as [NameColumn, string][]) {
    const place = facts.texts.indexOf(wanted);
    if (place < 0) return undefined;
    range(name, place, place);
  }
  if (filter.tag !== undefined) {
    const { tag } = filter;
    const having = new Set(facts.texts.flatMap((text, place) => (text.split("\n").includes(tag) ? [place] : [])));
    if (having.size === 0) return undefined;
    const tags = columnOf(facts, "tags");
    tests.push((row) => having.has(valueAt(tags, row)));
  }
  if (filter.status !== undefined) range("status", filter.status, filter.status);
  if (filter.costMinNanos !== undefined || filter.costMaxNanos !== undefined)
    range("costNanos", filter.costMinNanos ?? 0, filter.costMaxNanos ?? Infinity);
  if (filter.totalMinMs !== undefined || filter.totalMaxMs !== undefined)
    range("total", storedTime(filter.totalMinMs ?? 0), storedTime(filter.totalMaxMs ?? Infinity));
  if (filter.state !== undefined) {
    const { state } = filter;
    tests.push((row) => stateAt(facts, row) === state);
  }
  if (filter.id !== undefined) {
    const { id } = filter;
    const { texts } = chunk;
    tests.push((row) => ID_COLUMNS.some((name) => textAt(texts, name, row).includes(id)));
  }
  const [first = everyRow, ...others] = tests;
  return others.length === 0 ? first : (row) => first(row) && others.every((test) => test(row));
}

const everyRow: Test = () => true;

const ID_COLUMNS = ["id", "clientRequestId", "session"] as const;

/** Refused is what failed before money was set aside for it. */
export function stateAt(facts: Part, row: number): RecordState {
  const flags = valueAt(columnOf(facts, "flags"), row);
  if (valueAt(columnOf(facts, "reason"), row) === 0 || (flags & FLAG.adopted) !== 0) return "finished";
  return (flags & FLAG.answered) === 0 ? "refused" : "failed";
}

/** The same of one record that is in no chunk yet. */
export function rowPasses(row: RecordRow, filter: RecordFilter): boolean {
  const { names, tag, status, costMinNanos = 0, costMaxNanos = Infinity, totalMinMs, totalMaxMs, id } = filter;
  for (const [name, wanted] of Object.entries(names) as [NameColumn, string][]) if (row[name] !== wanted) return false;
  if (row.endTimeMs < filter.fromMs || row.endTimeMs > filter.toMs) return false;
  if (tag !== undefined && !row.tags.split("\n").includes(tag)) return false;
  if (status !== undefined && row.status !== status) return false;
  if (row.costNanos < costMinNanos || row.costNanos > costMaxNanos) return false;
  if (totalMinMs !== undefined && row.total < storedTime(totalMinMs)) return false;
  if (totalMaxMs !== undefined && (row.total === 0 || row.total > storedTime(totalMaxMs))) return false;
  if (filter.state !== undefined && stateOfRow(row) !== filter.state) return false;
  return id === undefined || ID_COLUMNS.some((name) => row[name].includes(id));
}

function stateOfRow({ flags, reason }: RecordRow): RecordState {
  if (reason === "" || (flags & FLAG.adopted) !== 0) return "finished";
  return (flags & FLAG.answered) === 0 ? "refused" : "failed";
}
