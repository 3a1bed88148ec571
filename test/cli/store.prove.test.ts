/** `tollgate store`: a backup while a gateway serves, what a restore brings back, and the way to PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChunkMark, NewChunk } from "../../src/records/chunk-store.js";
import { openPostgresRecords } from "../../src/records/postgres-chunks.js";
import { openSqliteChunks } from "../../src/records/sqlite-chunks.js";
import { openSqliteContents } from "../../src/records/sqlite-contents.js";
import type { AnswerRow } from "../../src/store/answer-rows.js";
import { Answers } from "../../src/store/sqlite/answers.js";
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

function answerOf(number: number): AnswerRow {
  const untilMs = NOON_MS + 3_600_000;
  return {
    id: Buffer.from([255, number]),
    accountId: "acme",
    requestId: `req_${number}`,
    print: Buffer.from([1]),
    record: number === 50 ? null : Buffer.from([number]),
    recordUntilMs: untilMs,
    untilMs,
  };
}

function chunkOf(ms: number): NewChunk {
  const bytes = { facts: new Uint8Array([ms, 0]), texts: new Uint8Array([0, ms]) };
  return { count: ms, fromMs: ms, toMs: ms, sealed: ms % 2 === 0, stripped: ms % 3 === 0, ...bytes };
}

function markOf(ms: number): ChunkMark {
  const { facts: _facts, texts: _texts, ...mark } = chunkOf(ms);
  return { ...mark, id: ms + 1 };
}

/** Kept answers and records of requests, which lie in files of their own. */
async function fillBeside(directory: string): Promise<void> {
  const nothing = (): void => undefined;
  const answers = new Answers({ directory, nowMs: () => NOON_MS, onSwept: nothing, onError: nothing });
  for (let number = 0; number <= 50; number += 1) await answers.put(answerOf(number));
  await answers.close();
  const chunks = openSqliteChunks(directory);
  for (let ms = 0; ms < 10; ms += 1) await chunks.insert(chunkOf(ms));
  await chunks.close();
  const contents = openSqliteContents(directory);
  await contents.put([CONTENT]);
  await contents.putKey({ accountId: "acme", sealed: new Uint8Array([4]) });
  await contents.close();
}

const CONTENT = { id: "req_1", accountId: "acme", endUser: "ann", endTimeMs: 5, sealed: new Uint8Array([1, 2, 3]) };

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
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(", and the ledger holds") });
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
      await fillBeside(join(home, "data"));
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
      const nothing = (): void => undefined;
      const answers = target.answers({ nowMs: () => NOON_MS, onSwept: nothing, onError: nothing });
      expect(await answers.find(answerOf(49).id)).toEqual({
        requestId: "req_49",
        print: new Uint8Array([1]),
        record: new Uint8Array([49]),
      });
      // A key without an answer is a claim of the node that is no more.
      await answers.put({ ...answerOf(50), requestId: "req_later" });
      await answers.close();
      const { chunks, contents } = await openPostgresRecords(url);
      expect(await chunks.within(0, 9)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((ms) => markOf(ms)));
      expect(await chunks.texts(3)).toEqual(chunkOf(2).texts);
      expect(await chunks.insert(chunkOf(10))).toBe(11);
      const { endUser: _user, ...content } = CONTENT;
      expect(await contents.find("req_1")).toEqual(content);
      expect(await contents.key("acme")).toEqual(new Uint8Array([4]));
      await chunks.close();
      await target.close();
      expect((await tollgate(copy, env)).stderr).toContain("has accounts: copy to a new and empty one");
    },
  );
});
