/** A ledger's database in PostgreSQL, and the writers of several nodes on it. */
import { onTestFinished } from "vitest";
import { Batches } from "../../src/store/postgres/batches.js";
import { Postgres } from "../../src/store/postgres/connection.js";
import { migrate } from "../../src/store/postgres/migration.js";
import { MIGRATIONS } from "../../src/store/postgres/schema.js";
import { createAccount, createKey } from "../../src/store/postgres/tables.js";
import { TEST_ACT } from "./acts.js";

/** Makes the tables, with these accounts and keys: each key with the one that made it. */
export async function makeLedger(
  url: string,
  accounts: readonly string[],
  keys: readonly (readonly [id: string, makerId: string])[] = [],
): Promise<void> {
  const database = await Postgres.open(url);
  await migrate(database, MIGRATIONS, []);
  for (const id of accounts) await createAccount(database, { id, name: id, createTimeMs: 0 }, TEST_ACT);
  for (const [id, makerId] of keys)
    await createKey(database, {
      id,
      accountId: "acme",
      makerId,
      settings: new Uint8Array(),
      digest: Buffer.from(id),
      previousDigest: null,
      previousUntilMs: null,
      hint: id,
      createTimeMs: 0,
      revokeTimeMs: null,
      revision: 1,
    });
  await database.close();
}

export interface NodeWriter {
  readonly database: Postgres;
  readonly batches: Batches;
}

export async function openWriter(url: string, nodeId: string): Promise<NodeWriter> {
  const database = await Postgres.open(url);
  onTestFinished(() => database.close().catch(() => undefined));
  return { database, batches: new Batches(database, nodeId) };
}
