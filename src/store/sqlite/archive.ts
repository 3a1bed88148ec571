/** What an archive asks of SQLite: a connection beside the gateway's, whose transactions are short. */
import { existsSync } from "node:fs";
import { join } from "node:path";
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
import { DATABASE_NAME, noDatabase } from "../data-directory.js";
import { hexOf } from "../digest.js";
import { SqliteAudit } from "./audit.js";
import { Sqlite } from "./binding.js";
import { checkVersion, schemaVersion } from "./migration.js";
import { MIGRATIONS } from "./schema.js";
import { DIALECT, verifyDatabase } from "./verify.js";

/** How long the gateway may be writing. */
const BUSY_MS = 30_000;
const LIST = "SELECT value FROM json_each(?)";

export function openSqliteArchive(directory: string): ArchiveDatabase {
  const path = join(directory, DATABASE_NAME);
  if (!existsSync(path)) throw new Error(noDatabase(directory));
  const database = new Sqlite(path, { bigints: true, timeoutMs: BUSY_MS });
  try {
    checkVersion(database, MIGRATIONS, directory);
    if (schemaVersion(database) !== MIGRATIONS.at(-1)?.version)
      throw new Error(`The database in '${directory}' is of an older program: start the gateway once.`);
    database.pragma("synchronous = FULL");
    database.pragma("trusted_schema = OFF");
    return archiveOf(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function archiveOf(database: Sqlite): ArchiveDatabase {
  const oldest = database.prepare<[], bigint | null>(oldestText("account.chain_sequence", "")).pluck();
  const accounts = database.prepare<[object], AccountColumns>(accountsText("account.chain_sequence", ""));
  const chain = database.prepare<[object], ChainColumns>(CHAIN_OF_ACCOUNT);
  const advance = advanceOf(database);
  const audit = new SqliteAudit(database);
  return {
    identity: async () => database.prepare<[], string>("SELECT database_id FROM identity").pluck().get() ?? "",
    archives: async () => database.prepare<[], ArchiveColumns>(ARCHIVES).all().map(toArchive),
    timeMs: () => Promise.resolve(Date.now()),
    oldestMs: async () => {
      const found = oldest.get();
      return found === undefined || found === null ? undefined : Number(found);
    },
    accounts: async (afterId, count) => accounts.all({ afterId, count }).map(toAccount),
    chain: async (accountId, place, last, count) => chain.all({ accountId, place, last, count }),
    begin: async (row, act: Act) => {
      database.transaction(() => {
        database.prepare(BEGIN).run(...archiveValues(row));
        audit.append(eventOf(act, { resource: `archives/${row.month}`, accountId: "" }));
        failpoint("during_commit");
      })();
    },
    advance: async (accountId, from, to) => advance(accountId, from, to),
    archived: async (afterId, count) =>
      database.prepare<[string, number], ArchivedColumns>(ARCHIVED).all(afterId, count).map(toArchived),
    kept: async (after, count) =>
      database
        .prepare<[number, number], { sequence: bigint; hash: Uint8Array }>(KEPT)
        .all(after, count)
        .map(({ sequence, hash }) => ({ sequence: Number(sequence), hash: hexOf(hash) })),
    verify: async () => verifyDatabase(database),
    close: async () => database.close(),
  };
}

function advanceOf(database: Sqlite): (accountId: string, from: number, to: number) => void {
  const end = database.prepare<[string], EndColumns>(END);
  const places = database.prepare<[object], PlaceColumns>(PLACES);
  const refunded = database.prepare<[string], bigint>(REFUNDED).pluck();
  const keep = database.prepare(
    "INSERT INTO archive_kept (sequence, account_id, previous_hash, waits) VALUES (?, ?, ?, ?)",
  );
  const stay = database.prepare(`UPDATE archive_kept SET waits = 0 WHERE sequence IN (${LIST})`);
  const addDays = database.prepare(addDaysText(DIALECT, LIST));
  const addMeters = database.prepare(addMetersText(DIALECT, LIST));
  const move = database.prepare(MOVE);
  const release = database.prepare(`DELETE FROM archive_kept WHERE sequence IN (${LIST})`);
  const remove = database.prepare(`DELETE FROM transfer WHERE sequence IN (${LIST})`);
  return database.transaction((accountId: string, from: number, to: number) => {
    const { plan, values } = planAdvance({
      accountId,
      from,
      to,
      end: end.get(accountId),
      rows: places.all({ accountId, from, to }),
      refunded: new Set(refunded.all(accountId)),
    });
    for (const { sequence, previousHash, waits } of plan.kept)
      keep.write(sequence, accountId, previousHash, Number(waits));
    stay.write(listOf(plan.stays));
    addDays.write(listOf(plan.goneHolds));
    addMeters.write(listOf(plan.goneHolds));
    move.write(...values);
    const gone = listOf(plan.gone);
    release.write(gone);
    remove.write(gone);
    failpoint("during_commit");
  });
}

function listOf(sequences: readonly bigint[]): string {
  return `[${sequences.join(",")}]`;
}
