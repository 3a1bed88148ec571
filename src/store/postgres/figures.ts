/** Balances, spending and last uses in PostgreSQL: of all rows of a page at once. */
import { BALANCE, type BalanceColumns } from "../account-rows.js";
import type { AsyncTableCalls } from "../calls.js";
import {
  type Buckets,
  leasedByKey,
  type LeasedColumns,
  type SpentColumns,
  toAccountFigures,
  toSpent,
} from "../figures.js";
import type { Postgres, Session } from "./connection.js";
import { sql } from "./sql.js";

const STATEMENTS = {
  balances: sql(BALANCE.replace("id = ?", "id = ANY($1::text[])")),
  spent: sql(`SELECT owner_id, period, spent_nanos, pending_nanos FROM budget WHERE owner = $1
    AND owner_id = ANY($2::text[]) AND (period, bucket) IN (VALUES ('day', $3), ('month', $4), ('total', ''))`),
  leased: sql(`SELECT key_id, nanos::bigint FROM (${leasedByKey("= ANY($1::text[])")}) AS sums`),
  uses: sql("SELECT key_id, last_use_time_ms FROM key_use WHERE key_id = ANY($1::text[])"),
  // In the order of their ids, so that no two nodes wait for each other.
  note: sql(`INSERT INTO key_use (key_id, last_use_time_ms)
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS used (key_id, time_ms) ORDER BY key_id COLLATE "C"
    ON CONFLICT (key_id) DO UPDATE SET last_use_time_ms = excluded.last_use_time_ms
    WHERE excluded.last_use_time_ms > key_use.last_use_time_ms`),
} as const;

type FigureCalls = Pick<AsyncTableCalls, "accountFigures" | "keyFigures" | "noteKeyUses">;

export function figureCalls(database: Postgres): FigureCalls {
  return {
    accountFigures: (ids, buckets) =>
      database.transact(
        async (session) => {
          const spent = await spentOf(session, "account", ids, buckets);
          const rows = await session.rows<BalanceColumns>(STATEMENTS.balances, [ids]);
          return rows.map((row) => toAccountFigures(row, toSpent(spent.get(row.id) ?? [])));
        },
        { snapshot: true },
      ),
    keyFigures: (ids, buckets) =>
      database.transact(
        async (session) => {
          const spent = await spentOf(session, "key", ids, buckets);
          const used = await session.rows<{ key_id: string; last_use_time_ms: bigint }>(STATEMENTS.uses, [ids]);
          const leases = await session.rows<LeasedColumns>(STATEMENTS.leased, [ids]);
          const leased = new Map(leases.map((row) => [row.key_id, row.nanos]));
          const uses = new Map(used.map((row) => [row.key_id, Number(row.last_use_time_ms)]));
          return ids.map((id) => {
            const counted = toSpent(spent.get(id) ?? [], leased.get(id));
            return { id, lastUseTimeMs: uses.get(id), spent: counted };
          });
        },
        { snapshot: true },
      ),
    noteKeyUses: async (uses) => {
      const times = uses.map(({ timeMs }) => Math.floor(timeMs));
      await database.run(STATEMENTS.note, [uses.map(({ keyId }) => keyId), times]);
    },
  };
}

async function spentOf(
  session: Session,
  owner: "account" | "key",
  ids: readonly string[],
  { day, month }: Buckets,
): Promise<Map<string, SpentColumns[]>> {
  const found = new Map<string, SpentColumns[]>();
  for (const row of await session.rows<SpentColumns>(STATEMENTS.spent, [owner, ids, day, month])) {
    const rows = found.get(row.owner_id) ?? [];
    found.set(row.owner_id, rows);
    rows.push(row);
  }
  return found;
}
