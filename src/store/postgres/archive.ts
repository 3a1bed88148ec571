/** What an archive asks of PostgreSQL: under the lock of one account at a time, as a batch of the ledger. */
import { type Act, eventOf } from "../../audit/act.js";
import { failpoint } from "../../base/failpoint.js";
import {
  type AccountColumns,
  accountsText,
  addDaysText,
  addMetersText,
  type ArchiveColumns,
  type ArchiveDatabase,
  type ArchivedColumns,
  ARCHIVED,
  ARCHIVES,
  archiveValues,
  BEGIN,
  END,
  type EndColumns,
  KEPT,
  MOVE,
  oldestText,
  PLACES,
  REFUNDED,
  toAccount,
  toArchive,
  toArchived,
} from "../archive/database.js";
import { planAdvance } from "../archive/advance.js";
import type { PlaceColumns } from "../archive/plan.js";
import { CHAIN_OF_ACCOUNT, type ChainColumns } from "../chain-proof.js";
import { hexOf } from "../digest.js";
import { appendAudit } from "./audit.js";
import { Postgres, type Session } from "./connection.js";
import { migrate } from "./migration.js";
import { MIGRATIONS } from "./schema.js";
import { namedSql, sql } from "./sql.js";
import { timeOf } from "./time.js";
import { DIALECT, verifyDatabase } from "./verify.js";

/** All accounts are looked at. */
const STATEMENT_MS = 600_000;

/** The ends of chains that the last anchor is over stay where they are, until the next is over others. */
const LAST = "least(account.chain_sequence, coalesce(anchor_head.account_sequence, account.chain_sequence))";
const ANCHORS = "LEFT JOIN anchor_head ON anchor_head.account_id = account.id";
const LIST = "SELECT unnest($1::bigint[])";

const STATEMENTS = {
  identity: sql("SELECT database_id FROM identity"),
  archives: sql(ARCHIVES),
  oldest: sql(oldestText(LAST, ANCHORS)),
  begin: sql(BEGIN),
  lock: sql("SELECT id FROM account WHERE id = $1 FOR UPDATE"),
  end: sql(END),
  refunded: sql(REFUNDED),
  keep: sql(`INSERT INTO archive_kept (sequence, account_id, previous_hash, waits)
    SELECT sequence, $1, previous_hash, waits
    FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS kept (sequence, previous_hash, waits)`),
  stay: sql(`UPDATE archive_kept SET waits = 0 WHERE sequence IN (${LIST})`),
  addDays: sql(addDaysText(DIALECT, LIST)),
  addMeters: sql(addMetersText(DIALECT, LIST)),
  move: sql(MOVE),
  release: sql(`DELETE FROM archive_kept WHERE sequence IN (${LIST})`),
  remove: sql(`DELETE FROM transfer WHERE sequence IN (${LIST})`),
  archived: sql(ARCHIVED),
  kept: sql(KEPT),
} as const;
const accounts = namedSql<{ readonly afterId: string; readonly count: number }>(accountsText(LAST, ANCHORS));
const chain = namedSql<Record<"place" | "last" | "count", number> & { readonly accountId: string }>(CHAIN_OF_ACCOUNT);
const places = namedSql<Record<"from" | "to", number> & { readonly accountId: string }>(PLACES);

export async function openPostgresArchive(url: string): Promise<ArchiveDatabase> {
  const database = await Postgres.open(url);
  try {
    await migrate(database, MIGRATIONS, []);
    return archiveOf(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

function archiveOf(database: Postgres): ArchiveDatabase {
  const oldestIn = (session: Session): Promise<{ oldest: bigint | null }[]> => session.rows(STATEMENTS.oldest);
  return {
    identity: async () => (await database.rows<{ database_id: string }>(STATEMENTS.identity))[0]?.database_id ?? "",
    archives: async () => (await database.rows<ArchiveColumns>(STATEMENTS.archives)).map(toArchive),
    timeMs: () => timeOf(database),
    oldestMs: async () => {
      const [row] = await database.transact(oldestIn, { snapshot: true, statementMs: STATEMENT_MS });
      return row === undefined || row.oldest === null ? undefined : Number(row.oldest);
    },
    accounts: async (afterId, count) =>
      (await database.rows<AccountColumns>(accounts, accounts.valuesOf({ afterId, count }))).map(toAccount),
    chain: (accountId, place, last, count) =>
      database.rows<ChainColumns>(chain, chain.valuesOf({ accountId, place, last, count })),
    begin: async (row, act: Act) => {
      const event = eventOf(act, { resource: `archives/${row.month}`, accountId: "" });
      await database.transact(async (session) => {
        await session.run(STATEMENTS.begin, archiveValues(row));
        await appendAudit(session, [event]);
        failpoint("during_commit");
      });
    },
    advance: (accountId, from, to) => database.transact((session) => advance(session, accountId, from, to)),
    archived: async (afterId, count) =>
      (await database.rows<ArchivedColumns>(STATEMENTS.archived, [afterId, count])).map(toArchived),
    kept: async (after, count) =>
      (await database.rows<{ sequence: bigint; hash: Uint8Array }>(STATEMENTS.kept, [after, count])).map(
        ({ sequence, hash }) => ({ sequence: Number(sequence), hash: hexOf(hash) }),
      ),
    verify: () => verifyDatabase(database),
    close: () => database.close(),
  };
}

async function advance(session: Session, accountId: string, from: number, to: number): Promise<void> {
  // What comes of the account waits until this has ended.
  await session.rows(STATEMENTS.lock, [accountId]);
  const [[end], rows, refunded] = await Promise.all([
    session.rows<EndColumns>(STATEMENTS.end, [accountId]),
    session.rows<PlaceColumns>(places, places.valuesOf({ accountId, from, to })),
    session.rows<{ hold_sequence: bigint }>(STATEMENTS.refunded, [accountId]),
  ]);
  const holds = new Set(refunded.map(({ hold_sequence: hold }) => hold));
  const { plan, values } = planAdvance({ accountId, from, to, end, rows, refunded: holds });
  const kept = [
    plan.kept.map(({ sequence }) => sequence),
    plan.kept.map(({ previousHash }) => `\\x${hexOf(previousHash)}`),
    plan.kept.map(({ waits }) => Number(waits)),
  ];
  await session.run(STATEMENTS.keep, [accountId, ...kept]);
  await session.run(STATEMENTS.stay, [plan.stays]);
  await session.run(STATEMENTS.addDays, [plan.goneHolds]);
  await session.run(STATEMENTS.addMeters, [plan.goneHolds]);
  await session.run(STATEMENTS.move, values);
  await session.run(STATEMENTS.release, [plan.gone]);
  const removed = await session.run(STATEMENTS.remove, [plan.gone]);
  if (removed !== plan.gone.length) throw new Error(`A transfer of the account ${accountId} is gone.`);
  failpoint("during_commit");
}
