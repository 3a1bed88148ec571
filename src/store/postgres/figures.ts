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
  // In one order, so that no two nodes wait for each other.
  addCosts: sql(`INSERT INTO operator_cost (subject, bucket, cost_nanos)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS added (subject, bucket, cost_nanos)
    WHERE cost_nanos <> 0 ORDER BY subject COLLATE "C", bucket COLLATE "C"
    ON CONFLICT (subject, bucket) DO UPDATE SET cost_nanos = operator_cost.cost_nanos + excluded.cost_nanos`),
  costs: sql(`SELECT subject, bucket, cost_nanos FROM operator_cost
    WHERE (subject, bucket) IN (SELECT * FROM unnest($1::text[], $2::text[]))`),
} as const;

type FigureCalls = Pick<AsyncTableCalls, "accountFigures" | "keyFigures" | "noteKeyUses" | "addOperatorCosts">;

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
    addOperatorCosts: (costs) =>
      database.transact(async (session) => {
        const names = [costs.map(({ subject }) => subject), costs.map(({ bucket }) => bucket)];
        if (costs.some(({ costNanos }) => costNanos !== 0n))
          await session.run(STATEMENTS.addCosts, [...names, costs.map(({ costNanos }) => costNanos)]);
        const rows = await session.rows<OperatorCostColumns>(STATEMENTS.costs, names);
        return rows.map(({ subject, bucket, cost_nanos }) => ({ subject, bucket, costNanos: cost_nanos }));
      }),
  };
}

interface OperatorCostColumns {
  readonly subject: string;
  readonly bucket: string;
  readonly cost_nanos: bigint;
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
