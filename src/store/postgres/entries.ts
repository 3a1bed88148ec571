/** An account's entries and statement in PostgreSQL. */
import { ARCHIVED_UNTIL } from "../book-rows.js";
import type { AsyncTableCalls } from "../calls.js";
import type { TransferColumns } from "../columns.js";
import {
  type BalanceColumns,
  NEWEST_ENTRIES,
  POINT,
  SPAN,
  SPAN_SUM,
  type SpanParameters,
  type SumColumns,
  TIME_OF,
  toEntry,
  toStart,
  toSum,
} from "../entry-rows.js";
import type { Postgres, Session } from "./connection.js";
import { namedSql, sql } from "./sql.js";

const newest = namedSql<{ readonly accountId: string; readonly before: number; readonly count: number }>(
  NEWEST_ENTRIES,
);
const inSpan = namedSql<SpanParameters>(SPAN);
const sumOfSpan = namedSql<SpanParameters>(SPAN_SUM);
const point = sql(POINT);
const timeOf = sql(TIME_OF);
const archivedUntil = sql(ARCHIVED_UNTIL);

type EntryCalls = Pick<AsyncTableCalls, "archivedUntil" | "entries" | "statementBounds" | "entrySpan" | "entrySum">;

export function entryCalls(database: Postgres): EntryCalls {
  return {
    archivedUntil: async () => {
      const [row] = await database.rows<{ until_ms: bigint | null }>(archivedUntil);
      return row === undefined || row.until_ms === null ? undefined : Number(row.until_ms);
    },
    entries: async (accountId, count, beforeSequence) => {
      const values = newest.valuesOf({ accountId, before: beforeSequence ?? Number.MAX_SAFE_INTEGER, count });
      return (await database.rows<TransferColumns>(newest, values)).map(toEntry);
    },
    statementBounds: (accountId, fromMs, toMs) =>
      database.transact(
        async (session) => {
          const [row] = await session.rows<BalanceColumns>(point, [accountId]);
          if (row === undefined) return undefined;
          const told = toStart(row);
          const span = { start: told.start.place, last: Number(row.newest) };
          return {
            first: fromMs === undefined ? span.start : await placeAt(session, accountId, fromMs, span),
            end: toMs === undefined ? span.last + 1 : await placeAt(session, accountId, toMs, span),
            newest: span.last,
            ...told,
            availableNanos: row.available,
            heldNanos: row.held,
          };
        },
        { snapshot: true },
      ),
    entrySpan: async (accountId, span, count) => {
      const values = inSpan.valuesOf({ ...span, accountId, count });
      return (await database.rows<TransferColumns>(inSpan, values)).map(toEntry);
    },
    entrySum: async (accountId, span, count) =>
      toSum((await database.rows<SumColumns>(sumOfSpan, sumOfSpan.valuesOf({ ...span, accountId, count })))[0]),
  };
}

/**
 * The place in the account's chain where a time begins. The steps of the search do not depend on how long the chain is,
 * so that the answer stays, even where a clock jumped and times do not rise with the places. What is archived is before
 * every time.
 */
async function placeAt(
  session: Session,
  accountId: string,
  timeMs: number,
  { start, last }: { readonly start: number; readonly last: number },
): Promise<number> {
  let before = 0;
  for (let step = 2 ** 52; step >= 1; step /= 2) {
    const place = before + step;
    if (place > last) continue;
    if (place < start) {
      before = place;
      continue;
    }
    const [row] = await session.rows<{ create_time_ms: bigint }>(timeOf, [accountId, place]);
    if (row !== undefined && Number(row.create_time_ms) < timeMs) before = place;
  }
  return before + 1;
}
