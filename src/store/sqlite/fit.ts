/** Whether a database file is whole, and has the tables that this program works with. */
import { statSync } from "node:fs";
import { UnusableData } from "../../base/unusable-data.js";
import { Sqlite, SqliteError } from "./binding.js";

export interface ExpectedFit {
  readonly path: string;
  /** Statements that make the tables as they must be. */
  readonly schema: string;
  /** What a person does where the file does not fit. */
  readonly remedy: string;
}

const COLUMNS = `SELECT m.name AS "table", c.name AS "column", upper(c.type) AS type FROM sqlite_master m
  JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`;

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** What SQLite tells of a checkpoint: the pages of the log, and those of them that are in the file now. */
interface Checkpoint {
  readonly busy?: number;
  readonly log?: number;
  readonly checkpointed?: number;
}

/** Throws UnusableData where the file is shorter than the database that it holds. */
export function checkWhole(database: Sqlite, { path, remedy }: Pick<ExpectedFit, "path" | "remedy">): void {
  try {
    // Pages that the log alone has are no part of the file yet. They stay there while another process reads what was
    // before them, as a copy does.
    const { busy, log, checkpointed } = database.prepare<[], Checkpoint>("PRAGMA wal_checkpoint(PASSIVE)").get() ?? {};
    if (busy !== 0 || log !== checkpointed) return;
  } catch (error) {
    // A full disk takes no page: then nobody knows how long the file should be.
    if (error instanceof SqliteError && error.code === "SQLITE_FULL") return;
    throw error;
  }
  const bytes = Number(database.pragma("page_count")) * Number(database.pragma("page_size"));
  if (statSync(path).size < bytes) throw new UnusableData(`'${path}' is damaged (it is cut off). ${remedy}`);
}

/**
 * Throws UnusableData where a table or a column is not there, or is of another type. With `mayGrow`, tables that a
 * newer program added may be missing: then one that is unknown shows that somebody renamed it.
 */
export function checkFit(database: Sqlite, { path, schema, remedy }: ExpectedFit, mayGrow = false): void {
  const found = new Map<string, Map<string, string>>();
  for (const { table, column, type } of database.prepare<[], Column>(COLUMNS).iterate())
    found.set(table, (found.get(table) ?? new Map<string, string>()).set(column, type));
  const expected = columnsOf(schema);
  const known = new Set(expected.map(({ table }) => table));
  const isNew = mayGrow && ![...found.keys()].some((table) => !known.has(table));
  const misfit = expected.find(({ table, column, type }) => {
    const columns = found.get(table);
    return columns === undefined ? !isNew : columns.get(column) !== type;
  });
  if (misfit === undefined) return;
  const { table, column } = misfit;
  const what = found.has(table)
    ? `its table '${table}' has no column '${column}' of its type`
    : `it has no table '${table}'`;
  throw new UnusableData(`'${path}' does not fit this program: ${what}. ${remedy}`);
}

/** What SQLite says of a file that is no database, or not one any more, as a line that says what to do. */
export function asUnusable(error: unknown, { path, remedy }: Pick<ExpectedFit, "path" | "remedy">): unknown {
  if (!(error instanceof SqliteError)) return error;
  if (!["SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_ERROR"].includes(error.code)) return error;
  return new UnusableData(`'${path}' is damaged (${error.message}). ${remedy}`, { cause: error });
}

function columnsOf(schema: string): Column[] {
  const made = new Sqlite(":memory:");
  try {
    made.exec(schema);
    return made.prepare<[], Column>(COLUMNS).all();
  } finally {
    made.close();
  }
}
