/** The time of day of the database's machine, which all nodes share. */
import type { Session } from "./connection.js";
import { sql } from "./sql.js";

const TIME = sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time_ms");

/** In milliseconds, with parts of one. */
export async function timeOf(session: Pick<Session, "rows">): Promise<number> {
  const [row] = await session.rows<{ time_ms: number }>(TIME);
  if (row === undefined) throw new Error("the database does not say what time it is");
  return row.time_ms;
}
