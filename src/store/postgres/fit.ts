/** Whether the database has the tables and columns that this program works with. */
import type { Session } from "./connection.js";
import { UnusableDatabase } from "./failure.js";
import { sql } from "./sql.js";

const COLUMNS = sql(`SELECT table_name, column_name FROM information_schema.columns
  WHERE table_schema = current_schema()`);
/** What begins a part of a table that is no column. */
const CONSTRAINT = /^(?:check|constraint|exclude|foreign|primary|unique)\b/i;

export interface TableColumn {
  readonly table: string;
  readonly column: string;
}

/** Rejects with UnusableDatabase, which names the first that is not there. */
export async function checkFit(session: Session, schema: string, place: string): Promise<void> {
  const rows = await session.rows<{ table_name: string; column_name: string }>(COLUMNS);
  const found = new Set(rows.map((row) => `${row.table_name}.${row.column_name}`));
  const tables = new Set(rows.map((row) => row.table_name));
  const misfit = columnsOf(schema).find(({ table, column }) => !found.has(`${table}.${column}`));
  if (misfit === undefined) return;
  const { table, column } = misfit;
  const what = tables.has(table) ? `its table '${table}' has no column '${column}'` : `it has no table '${table}'`;
  throw new UnusableDatabase(
    `The database at ${place} does not fit this program: ${what}. Give it its name back, or restore the database from a backup.`,
  );
}

/** The columns that the statements of a schema make, as the steps of this program write them. */
export function columnsOf(schema: string): TableColumn[] {
  const columns: TableColumn[] = [];
  for (const { 1: table = "", index, 0: head } of schema.matchAll(/\bCREATE TABLE (\w+) \(/g))
    for (const part of partsOf(schema, index + head.length))
      if (!CONSTRAINT.test(part)) columns.push({ table, column: /^\w+/.exec(part)?.[0] ?? "" });
  for (const [, table = "", column = ""] of schema.matchAll(/\bALTER TABLE (\w+) ADD COLUMN (\w+)/g))
    columns.push({ table, column });
  return columns;
}

/** What stands between commas, up to the parenthesis that closes what opened before `from`. */
function partsOf(text: string, from: number): string[] {
  const parts: string[] = [];
  let [depth, start] = [1, from];
  for (let at = from; depth > 0 && at < text.length; at += 1) {
    const character = text[at];
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (depth > 1 || (character !== "," && depth > 0)) continue;
    parts.push(text.slice(start, at).trim());
    start = at + 1;
  }
  return parts;
}
