/** A record as it is stored, of nothing but what a test says; one that took no time where no begin is said. */
import { COLUMNS, NUMBERS, type RecordRow } from "../../src/records/columns.js";

const NUMBER_SET: ReadonlySet<string> = new Set(NUMBERS);
const NOTHING: unknown = Object.fromEntries(COLUMNS.map((name) => [name, NUMBER_SET.has(name) ? 0 : ""]));

export function rowWith(more: Partial<RecordRow>): RecordRow {
  return { ...(NOTHING as RecordRow), createTimeMs: more.endTimeMs ?? 0, ...more };
}
