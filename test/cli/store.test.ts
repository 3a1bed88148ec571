/** `tollgate store`: a backup while a gateway serves, what a restore brings back, and the way to PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { openSqliteStore } from "../../src/store/sqlite/store.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import type { Store } from "../../src/store/store.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { tollgate } from "../support/command.js";
import { makeDatabase, postgresMissing } from "../support/postgres.js";
import { TEST_ACT } from "../support/acts.js";

const SECRET = "a root secret of this test, long enough";
const REQUESTS = 700;

function parent(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-store-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function filled(directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory });
  for (const id of ["acme", "other"])
    await store.accounts.create({ id, name: `${id} \0 \uE000`, createTimeMs: NOON_MS }, TEST_ACT);
  await store.ledger.commit([creditOf(1_000_000n)]);
  for (let start = 0; start < REQUESTS; start += 100) {
    const ids = Array.from({ length: 100 }, (_, index) => `r${String(start + index).padStart(6, "0")}`);
    await store.ledger.commit(ids.map((requestId) => holdOf({ requestId })));
    await store.ledger.commit([
      checkpointOf({ requestId: ids[0]! }),
      voidOf({ requestId: ids[1]! }),
      ...ids.slice(2).map((requestId) => settleOf({ requestId })),
    ]);
  }
  return store;
}

describe("tollgate store", () => {
  test("backs up while a gateway serves, and restores what it wrote, which is served on", async () => {
    const [home, elsewhere] = [parent(), parent()];
    const store = await filled(join(home, "data"));
    const file = join(home, "backup.db");
    const env = { TOLLGATE_DATA: join(home, "data"), TOLLGATE_SECRET: SECRET };
    const backup = await tollgate(["store", "backup", file], env);
    expect(backup).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("backed up, and the ledger holds: 2 accounts"),
    });
    expect(await tollgate(["store", "backup", file], env)).toMatchObject({ code: 1 });
    const balance = await store.ledger.balance("acme");
    await store.ledger.commit([creditOf(5n, { creditId: "later" })]);
    await store.close();
    const there = await tollgate(["store", "restore", file], env);
    expect(there.stderr).toContain("is there already");
    const restored = await tollgate(["store", "restore", file], { ...env, TOLLGATE_DATA: join(elsewhere, "data") });
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("restored, and the ledger holds") });
    const again = await openSqliteStore({ directory: join(elsewhere, "data") });
    expect(await again.ledger.balance("acme")).toEqual(balance);
    expect((await again.ledger.verify()).problems).toEqual([]);
    await again.close();
  });

  test("restores nothing that does not hold", async () => {
    const home = parent();
    await (await filled(join(home, "data"))).close();
    const file = join(home, "backup.db");
    const env = { TOLLGATE_DATA: join(home, "data"), TOLLGATE_SECRET: SECRET };
    await tollgate(["store", "backup", file], env);
    const database = new Sqlite(file);
    database.exec("UPDATE account SET credits_posted = credits_posted + 1 WHERE id = 'acme'");
    database.close();
    const restored = await tollgate(["store", "restore", file], { ...env, TOLLGATE_DATA: join(home, "new") });
    expect(restored.code).toBe(7);
  });

  test.skipIf(postgresMissing)(
    "copies to PostgreSQL, goes on where it was interrupted, and is served there",
    async () => {
      const home = parent();
      const source = await filled(join(home, "data"));
      const [balance, entries] = [
        await source.ledger.balance("acme"),
        await source.ledger.entries("acme", { size: 1000, token: "" }),
      ];
      await source.close();
      const url = await makeDatabase();
      const env = { TOLLGATE_DATA: join(home, "data"), TOLLGATE_SECRET: SECRET, TOLLGATE_DATABASE_URL: url };
      const copy = ["store", "copy", "--from", "sqlite", "--to", "postgres"];
      const interrupted = await tollgate(copy, { ...env, TOLLGATE_FAILPOINTS: "during_commit=kill:7" });
      expect(interrupted.code).not.toBe(0);
      await expect(openPostgresStore({ url, nodeId: "n" })).rejects.toThrow("a copy that is not whole");
      const whole = await tollgate(copy, env);
      expect(whole).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("copied, and the ledger holds: 2 accounts"),
      });
      const target = await openPostgresStore({ url, nodeId: "n" });
      expect(await target.ledger.balance("acme")).toEqual(balance);
      expect(await target.ledger.entries("acme", { size: 1000, token: "" })).toEqual(entries);
      expect((await target.accounts.get("acme"))?.name).toBe("acme \0 \uE000");
      expect(await target.ledger.commit([holdOf({ requestId: "zz" }), settleOf({ requestId: "zz" })])).toMatchObject([
        { kind: "held" },
        { kind: "settled" },
      ]);
      expect((await target.ledger.verify()).problems).toEqual([]);
      await target.close();
      expect((await tollgate(copy, env)).stderr).toContain("has accounts: copy to a new and empty one");
    },
  );
});
