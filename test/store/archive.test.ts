/** The archive of old transfers, over real databases: nothing that is asked changes, and nothing is lost or doubled. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { archiveLedger, nextPlaces } from "../../src/store/archive/archive.js";
import { verifyWithArchive } from "../../src/store/archive/verify.js";
import type { Store } from "../../src/store/store.js";
import { creditOf, holdOf, NOON_MS, settleOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { Sqlite } from "../../src/store/sqlite/binding.js";
import { openPostgresArchive } from "../../src/store/postgres/archive.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { tollgate } from "../support/command.js";
import { administer, makeDatabase, postgresMissing } from "../support/postgres.js";
import { onEachStore, SQLITE, type StoreDriver, type StorePlace } from "../support/stores.js";
import { bySweep } from "../support/sweep.js";
import { ACCOUNTS, debitOf, fillMonths, journaled, refundOf } from "./ledger-of-months.js";

const REQUESTS = bySweep({ short: 40, long: 80, all: 80 });
const SECRET = "a root secret of this test, long enough";
/** How many bytes of each file are changed, one at a time. */
const FLIPS = bySweep({ short: 2, long: 6, all: 6 });
const SEEDS = bySweep({ short: [1], long: [1, 2, 3], all: [1, 2, 3] });

function plus(table: string, column: string, where: string): { readonly change: string; readonly back: string } {
  const set = (sign: string): string => `UPDATE ${table} SET ${column} = ${column} ${sign} 1 WHERE ${where}`;
  return { change: set("+"), back: set("-") };
}

const OF_ACME = "account_id = 'acme'";
const ONE_DAY = `${OF_ACME} AND (day, key_id, model) = (SELECT day, key_id, model FROM archive_day WHERE ${OF_ACME}
  ORDER BY day, key_id, model LIMIT 1)`;
const CHANGES = [
  ...["account_sequence", "sequence", "transfer_count", "available_nanos", "held_nanos"].map((column) =>
    plus("archive_account", column, OF_ACME),
  ),
  ...["request_count", "output_tokens", "cost_nanos", "margin_nanos", "charged_nanos"].map((column) =>
    plus("archive_day", column, ONE_DAY),
  ),
  ...["until_ms", "transfer_count", "create_time_ms"].map((column) => plus("archive", column, "number = 1")),
  plus("transfer", "posted_nanos", "credit_id = 'acme 2026-03'"),
];

const FORBIDDEN = [
  "DELETE FROM transfer",
  "DELETE FROM transfer WHERE credit_id = 'acme 2026-03'",
  "UPDATE transfer SET posted_nanos = 1",
  "DELETE FROM archive",
  "UPDATE archive SET month = '2026-01'",
  "DELETE FROM archive_account",
  "UPDATE archive_account SET account_sequence = account_sequence + 1",
  `UPDATE archive_account SET (account_sequence, sequence, hash) = (SELECT account_sequence, sequence, hash
    FROM transfer WHERE ${OF_ACME} ORDER BY account_sequence DESC LIMIT 1) WHERE ${OF_ACME}`,
  "DELETE FROM archive_kept WHERE waits = 0",
  "UPDATE archive_kept SET waits = 1",
];

const KINDS_OF_KILLS = ["during_commit=kill:1", "before_commit=kill:1", "after_commit=kill:1", "during_commit=kill:2"];
const ALL_KILLS = [
  "during_commit=kill:1",
  "during_commit=kill:2",
  "before_commit=kill:1",
  "during_commit=kill:3",
  "after_commit=kill:1",
  "during_commit=kill:1",
  "after_commit=kill:1",
  "during_commit=kill:2",
  "after_commit=kill:2",
];
/** One after the other: in the files, before and behind the note that they are there, and between the accounts. */
const KILLS = bySweep({ short: KINDS_OF_KILLS, long: ALL_KILLS, all: ALL_KILLS });

/** The proof is one for all stores: in short, PostgreSQL is asked for one column of each table. */
function changesOn({ id }: StoreDriver): typeof CHANGES {
  if (id === "sqlite" || bySweep({ short: false, long: true, all: true })) return CHANGES;
  const tableOf = ({ change }: (typeof CHANGES)[number]): string | undefined => change.split(" ")[1];
  return CHANGES.filter((one, place) => CHANGES.findIndex((other) => tableOf(other) === tableOf(one)) === place);
}

/** A statement of somebody who has the database, whose triggers are on. */
async function run(place: StorePlace, statement: string): Promise<void> {
  const { TOLLGATE_DATABASE_URL: url, TOLLGATE_DATA: directory = "" } = place.env;
  if (url !== undefined) {
    await administer(statement, url);
    return;
  }
  const database = new Sqlite(join(directory, "tollgate.db"));
  try {
    database.exec(statement);
  } finally {
    database.close();
  }
}

const OPTIONS = { act: TEST_ACT, nowMs: NOON_MS, onProgress: () => undefined };

function filesDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-archive-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function archive(place: StorePlace, directory: string, before: string): Promise<readonly string[]> {
  const database = await place.archive();
  try {
    return (await archiveLedger({ ...OPTIONS, database, directory, before })).months;
  } finally {
    await database.close();
  }
}

async function verifyArchive(place: StorePlace, directory: string): Promise<readonly string[]> {
  const database = await place.archive();
  try {
    return (await verifyWithArchive(database, directory)).problems;
  } finally {
    await database.close();
  }
}

const SPAN = { fromDay: "2026-01-01", toDay: "2026-12-31" };

/** All that somebody may ask of the money, and that an archive leaves as it is. */
async function told(store: Store, fromMs: number): Promise<unknown> {
  const all = { size: 1_000, token: "" };
  const accounts = await Promise.all(
    ACCOUNTS.map(async (id) => [
      await store.ledger.balance(id),
      await store.accounts.get(id),
      await store.ledger.statement(id, { fromMs, toMs: undefined }, all),
    ]),
  );
  const refused = await store.ledger.preview(["key_1", "key_2"].map((keyId) => hold(keyId)));
  return { accounts, usage: await store.requests.summarize(undefined, SPAN, all), refused };
}

/** Refused by what the key ever spent: the refusal tells how much is left. */
function hold(keyId: string): Parameters<Store["ledger"]["preview"]>[0][number] {
  const asked = { accountId: "acme", model: "sim-1", price: new Uint8Array([8, 1]), nodeId: "node_1" };
  const budgets = [{ period: "total", limitNanos: 10_000_000n }] as const;
  const amount = { amountNanos: 100_000_000n, leastNanos: 100_000_000n };
  return {
    kind: "hold",
    requestId: `p-${keyId}`,
    keyId,
    ...asked,
    ...amount,
    budgets,
    nowMs: NOON_MS,
    expireTimeMs: NOON_MS,
  };
}

onEachStore((driver) => {
  test.each(SEEDS)("what is archived changes no answer, and all of it is proven (seed %i)", async (seed) => {
    const place = await driver.place();
    const directory = filesDirectory();
    const store = await place.open();
    await fillMonths(store, seed, REQUESTS);
    const full = await store.ledger.verify();
    expect(full.problems).toEqual([]);
    const mayMs = Date.parse("2026-05-01T00:00:00Z");
    const before = await told(store, mayMs);

    expect(await archive(place, directory, "2026-05")).toEqual(["2026-03", "2026-04"]);
    expect(await told(store, mayMs)).toEqual(before);
    const some = await store.ledger.verify();
    expect(some.problems).toEqual([]);
    expect(some.transferCount).toBeLessThan(full.transferCount * 0.8);
    expect(await verifyArchive(place, directory)).toEqual([]);

    // What waited for its end goes with the next.
    expect(await archive(place, directory, "2026-07")).toEqual(["2026-05", "2026-06"]);
    expect((await store.ledger.verify()).problems).toEqual([]);
    expect(await verifyArchive(place, directory)).toEqual([]);
    expect(readdirSync(directory).filter((name) => name.startsWith("manifest"))).toHaveLength(4);
    expect(await archive(place, directory, "2026-07")).toEqual([]);
  });

  test("an id of before is taken once, and what is archived is neither charged nor refunded", async () => {
    const place = await driver.place();
    const directory = filesDirectory();
    const store = await place.open();
    await fillMonths(store, 4, REQUESTS);
    const oldMs = Date.parse("2026-03-02T00:00:00Z");
    await store.ledger.commit([debitOf("acme", "twice", oldMs)]);
    const balance = await store.ledger.balance("acme");
    await archive(place, directory, "2026-07");
    const repeated = await store.ledger.commit([
      creditOf(1_000_000n, { creditId: "acme 2026-03" }),
      debitOf("acme", "twice", NOON_MS),
      creditOf(2n, { creditId: "acme 2026-03" }),
    ]);
    expect(repeated).toMatchObject([
      { kind: "credited", repeated: true },
      { kind: "debited", repeated: true },
      { kind: "refused", problem: "id_taken" },
    ]);
    const gone = "late-2026-03";
    expect(await store.requests.get(gone)).toBeUndefined();
    const unknown = { kind: "refused", problem: "unknown_request" };
    const untilMs = Date.parse("2026-07-01T00:00:00Z");
    expect(
      await store.ledger.commit([settleOf({ requestId: gone }), journaled(gone, oldMs), refundOf(gone, NOON_MS, 1n)]),
    ).toEqual([unknown, unknown, { kind: "archived", untilMs }]);
    // By itself, too: nothing else of the batch had the book read what is archived.
    expect(await store.ledger.commit([refundOf(gone, NOON_MS, 1n)])).toEqual([{ kind: "archived", untilMs }]);
    expect(await store.ledger.balance("acme")).toEqual(balance);
    // One whose hold was lost after the archive is written late, as ever.
    const [late] = await store.ledger.commit([journaled("lost", NOON_MS)]);
    expect(late).toMatchObject({ kind: "settled", repeated: false });
    expect((await store.ledger.verify()).problems).toEqual([]);
    expect(await verifyArchive(place, directory)).toEqual([]);
  });

  test("whatever is changed of its files, or of what stays in the database, is found", async () => {
    const place = await driver.place();
    const directory = filesDirectory();
    const store = await place.open();
    await fillMonths(store, 5, 30);
    await archive(place, directory, "2026-05");
    await store.close();
    expect(await verifyArchive(place, directory)).toEqual([]);
    const broken = filesDirectory();
    for (const name of readdirSync(directory).filter((file) => !file.startsWith("tollgate"))) {
      cpSync(directory, broken, { recursive: true });
      const bytes = readFileSync(join(directory, name));
      for (let part = 0; part < FLIPS; part += 1) {
        const changed = Buffer.from(bytes);
        const at = Math.floor(((part + 0.5) * bytes.length) / FLIPS);
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
        writeFileSync(join(broken, name), changed);
        const problems = await verifyArchive(place, broken);
        expect(problems.join(" "), `${name} at ${at}`).toMatch(/2026-0[34]|acme|other|idle|archived transfer/);
      }
      rmSync(join(broken, name));
      expect((await verifyArchive(place, broken)).join(" "), name).toContain("ENOENT");
    }
    for (const { change, back } of changesOn(driver)) {
      await place.tamper(change);
      expect(await verifyArchive(place, directory), change).not.toEqual([]);
      await place.tamper(back);
    }
    expect(await verifyArchive(place, directory)).toEqual([]);
    await place.tamper("UPDATE archive SET manifest_hash = digest");
    expect((await verifyArchive(place, directory)).join(" ")).toMatch(/archive 1 .*manifest of 2026-03/);
  });

  test("nobody but the archive takes a transfer out, and it only what it may", async () => {
    const place = await driver.place();
    const store = await place.open();
    await fillMonths(store, 6, 30);
    await archive(place, filesDirectory(), "2026-05");
    await store.close();
    for (const statement of FORBIDDEN)
      await expect(run(place, statement), statement).rejects.toThrow(
        /append-only|only goes on|ends on its chain|stays/,
      );
    expect((await (await place.archive()).verify()).problems).toEqual([]);
  });

  test("a run that is killed at any step is gone on with by the next", async () => {
    const place = await driver.place();
    const directory = filesDirectory();
    const store = await place.open();
    await fillMonths(store, 7, 40);
    const mayMs = Date.parse("2026-06-01T00:00:00Z");
    const before = await told(store, mayMs);
    const env = { ...place.env, TOLLGATE_SECRET: SECRET };
    const command = ["store", "archive", "--before", "2026-06", "--to", directory];
    for (const failpoint of KILLS) {
      const killed = await tollgate(command, { ...env, TOLLGATE_FAILPOINTS: failpoint });
      expect(killed.stderr, failpoint).toContain("=kill");
      expect(await verifyArchive(place, directory), failpoint).toEqual([]);
      expect(await told(store, mayMs), failpoint).toEqual(before);
    }
    const whole = await tollgate(command, env);
    expect(whole, whole.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("2026-05") });
    expect(await told(store, mayMs)).toEqual(before);
    const verified = await tollgate(["store", "verify", "--archive", directory], env);
    expect(verified, verified.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining("the ledger holds") });
  }, 300_000);

  test("of two archives one is refused, and requests go on beside the other", async () => {
    const place = await driver.place();
    const directory = filesDirectory();
    const store = await place.open();
    await fillMonths(store, 8, REQUESTS);
    const state = { isDone: false, count: 0 };
    const serving = (async () => {
      for (; !state.isDone || state.count < 20; state.count += 1) {
        const requestId = `z${String(state.count).padStart(6, "0")}`;
        const asked = { requestId, accountId: "acme", amountNanos: 5n, nowMs: NOON_MS };
        const done = await store.ledger.commit([holdOf(asked), settleOf({ requestId, nowMs: NOON_MS })]);
        expect(done).toMatchObject([{ kind: "held" }, { kind: "settled" }]);
      }
    })();
    const databases = [await place.archive(), await place.archive()];
    // The first has the directory before the second is called.
    const runs = await Promise.allSettled(
      databases.map((database) => archiveLedger({ ...OPTIONS, database, directory, before: "2026-07" })),
    );
    state.isDone = true;
    await serving;
    expect(runs.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(runs[1]).toMatchObject({
      reason: { message: expect.stringContaining("Another archive runs") },
    });
    await expect(archive(place, filesDirectory(), "2026-11")).rejects.toThrow("name the directory that has it");
    await expect(archive(place, directory, "2999-01")).rejects.toThrow("only months that are over");
    expect((await store.ledger.verify()).problems).toEqual([]);
    expect(await verifyArchive(place, directory)).toEqual([]);
  });

  test("a statement of archived months is refused, and one of all begins with what stood on the account", async () => {
    const place = await driver.place();
    const store = await place.open();
    await fillMonths(store, 9, 30);
    const all = { size: 1_000, token: "" };
    const mayMs = Date.parse("2026-05-01T00:00:00Z");
    await archive(place, filesDirectory(), "2026-05");
    const old = store.ledger.statement("acme", { fromMs: mayMs - 1, toMs: undefined }, all);
    await expect(old).rejects.toThrow("the entries before 2026-05-01 are archived");
    const whole = await store.ledger.statement("acme", { fromMs: undefined, toMs: undefined }, all);
    expect(whole?.archivedUntilMs).toBe(mayMs);
    expect(whole?.opening.availableNanos).toBeGreaterThan(0n);
    expect(await store.ledger.balance("acme")).toMatchObject(whole?.closing ?? {});
    const listed = await store.ledger.entries("acme", all);
    expect(listed.archivedUntilMs).toBe(mayMs);
    const newest = await store.ledger.entries("acme", { size: 1, token: "" });
    expect(newest.archivedUntilMs).toBeUndefined();
    expect(whole?.entries.map(({ id }) => id)).toEqual(listed.rows.map(({ id }) => id).toReversed());
  });
});

test.each([
  { places: 500, tookMs: 101, want: 250 },
  { places: 60, tookMs: 5_000, want: 50 },
  { places: 250, tookMs: 70, want: 250 },
  { places: 300, tookMs: 10, want: 500 },
])("a step of $places places that took $tookMs ms is followed by one of $want", ({ places, tookMs, want }) => {
  expect(nextPlaces(places, tookMs)).toBe(want);
});

test.skipIf(postgresMissing)(
  "an archived ledger is backed up, and copied to PostgreSQL with what it keeps",
  async () => {
    const place = await SQLITE.place();
    const directory = filesDirectory();
    const store = await place.open();
    await fillMonths(store, 10, REQUESTS);
    await archive(place, directory, "2026-05");
    const balance = await store.ledger.balance("acme");
    await store.close();
    const url = await makeDatabase();
    const env = { ...place.env, TOLLGATE_SECRET: SECRET };
    const saved = await tollgate(["store", "backup", join(directory, "saved.db")], env);
    expect(saved, saved.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining("the ledger holds") });
    const copy = ["store", "copy", "--from", "sqlite", "--to", "postgres"];
    const copied = await tollgate(copy, { ...env, TOLLGATE_DATABASE_URL: url });
    expect(copied, copied.stdout).toMatchObject({ code: 0, stdout: expect.stringContaining("the ledger holds") });
    const target = await openPostgresStore({ url, nodeId: "node_2" });
    expect(await target.ledger.balance("acme")).toEqual(balance);
    const moved = { ...place, archive: () => openPostgresArchive(url) };
    const problems = await verifyArchive(moved, directory);
    expect(problems).toEqual([]);
    // It goes on in the new database, behind the files of the old one.
    expect(await archive(moved, directory, "2026-07")).toEqual(["2026-05", "2026-06"]);
    expect(await verifyArchive(moved, directory)).toEqual([]);
    await target.close();
  },
);
