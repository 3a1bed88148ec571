/** The way to a real PostgreSQL: what it must be, what is bounded, and what happens where it is away. */
import { allowTimeToFail } from "../support/pauses.js";
import { createServer } from "node:net";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { Postgres } from "../../src/store/postgres/connection.js";
import { migrate } from "../../src/store/postgres/migration.js";
import { MIGRATIONS, type PostgresMigration } from "../../src/store/postgres/schema.js";
import { checkFacts } from "../../src/store/postgres/server-check.js";
import { sql } from "../../src/store/postgres/sql.js";
import { startCuttingProxy } from "../support/cutting-proxy.js";
import { openPostgresStore } from "../../src/store/postgres/store.js";
import { NOON_MS, creditOf, holdOf, settleOf } from "../ledger/operations.js";
import { pgbouncerMissing, startPgbouncer } from "../support/pgbouncer.js";
import { administer, makeDatabase, postgresMissing } from "../support/postgres.js";
import { makeStoreDatabase } from "../support/stores.js";
import { TEST_ACT } from "../support/acts.js";

async function opened<Result>(url: string, work: (database: Postgres) => Promise<Result>): Promise<Result> {
  const database = await Postgres.open(url);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

describe.skipIf(postgresMissing)("PostgreSQL", () => {
  test("integers come as bigints to the last digit, bytes as bytes, texts as they were", async () => {
    const values = [9_223_372_036_854_775_807n, Buffer.from([0, 255]), "naïve 'text' \\ \u{1f600} \0 \uE000n"];
    const text = "SELECT ?::bigint AS a, ?::bytea AS b, ?::text AS c, count(*) AS d, sum(1::bigint) AS e";
    const rows = await opened(await makeDatabase(), (database) => database.rows(sql(text), values));
    expect(rows).toEqual([{ a: values[0], b: new Uint8Array([0, 255]), c: values[2], d: 1n, e: 1n }]);
  });

  test("one that may lose what it acknowledged is refused by name", async () => {
    const url = await makeDatabase();
    await administer(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
    await expect(Postgres.open(url)).rejects.toThrow("synchronous_commit is off");
  });

  test.each([
    { facts: { fsync: "off" }, told: "fsync is off, so a crash could lose money" },
    { facts: { full_page_writes: "off" }, told: "full_page_writes is off, so a crash could lose money" },
    { facts: { synchronous_commit: "off" }, told: "synchronous_commit is off, so a crash could lose money" },
    { facts: { version: 13n }, told: "it is version 13: Tollgate needs PostgreSQL 14 or later" },
    { facts: { encoding: "LATIN1" }, told: "its encoding is LATIN1: make a database with ENCODING 'UTF8'" },
    { facts: { standby: true }, told: "it is a standby, which takes no writes" },
    { facts: {}, told: undefined },
    { facts: { version: 14n, synchronous_commit: "remote_apply" }, told: undefined },
  ])("a server of which $facts is so is told: $told", ({ facts, told }) => {
    const durable = { fsync: "on", full_page_writes: "on", synchronous_commit: "on" };
    const check = (): void =>
      checkFacts({ version: 17n, ...durable, encoding: "UTF8", standby: false, pid: 1n, ...facts });
    if (told === undefined) check();
    else expect(check).toThrow(told);
  });

  test("one that is not there, or has another password, is told in one line without the password", async () => {
    const url = new URL(await makeDatabase());
    url.password = "not-the-password";
    const wrong = await Postgres.open(url.href).catch(String);
    expect(wrong).toContain(`PostgreSQL at ${url.host}${url.pathname} cannot be used: 28P01`);
    url.port = "9";
    const away = await Postgres.open(url.href).catch(String);
    expect(away).toContain("ECONNREFUSED");
    for (const text of [wrong, away]) expect(text).not.toMatch(/not-the-password|\n/);
  });

  test("one that accepts and says nothing is given up in time", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(Postgres.open(`postgresql://u:p@127.0.0.1:${port}/d`)).rejects.toThrow("cannot be used");
    silent.close();
  });

  test("transactions that are in each other's way all happen, each once", async () => {
    await opened(await makeDatabase(), async (database) => {
      await database.script(
        "CREATE TABLE thing (id bigint PRIMARY KEY, count bigint); INSERT INTO thing VALUES (1, 0), (2, 0)",
      );
      const add = sql("UPDATE thing SET count = count + 1 WHERE id = $1");
      const both = (first: number, second: number): Promise<number> =>
        database.transact(async (session) => {
          await session.run(add, [first]);
          await session.run(sql("SELECT pg_sleep(0.01)"));
          return session.run(add, [second]);
        });
      await Promise.all(Array.from({ length: 2 }, (_, index) => both(1 + (index % 2), 2 - (index % 2))));
      const rows = await database.rows(sql("SELECT count FROM thing"));
      expect(rows).toEqual([{ count: 2n }, { count: 2n }]);
    });
  });

  test("a transaction that fails leaves nothing, and its connection goes on", async () => {
    await opened(await makeDatabase(), async (database) => {
      await database.script("CREATE TABLE thing (id bigint PRIMARY KEY)");
      const fail = database.transact(async (session) => {
        await session.run(sql("INSERT INTO thing VALUES (1)"));
        throw new Error("ours");
      });
      await expect(fail).rejects.toMatchObject({ reason: "ERROR_REASON_INTERNAL" });
      expect(await database.rows(sql("SELECT id FROM thing"))).toEqual([]);
    });
  });

  test("while it is away every call is refused as unavailable, and the first one after it is served", async () => {
    const url = new URL(await makeDatabase());
    const proxy = await startCuttingProxy(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    await opened(url.href, async (database) => {
      const ask = (): Promise<unknown> => database.rows(sql("SELECT 1::bigint AS one"));
      expect(await ask()).toEqual([{ one: 1n }]);
      proxy.cut();
      await expect(ask()).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
      await expect(database.transact(ask)).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
      proxy.mend();
      expect(await ask()).toEqual([{ one: 1n }]);
    });
    await proxy.close();
  });

  test("broken at any byte of what it answers: who asked is told, and the process goes on", async () => {
    const url = new URL(await makeDatabase());
    const proxy = await startCuttingProxy(url.hostname, Number(url.port));
    url.port = String(proxy.port);
    const left: unknown[] = [];
    const onRejection = (reason: unknown): void => void left.push(reason);
    process.on("unhandledRejection", onRejection);
    await opened(url.href, async (database) => {
      let [broken, whole] = [0, 0];
      for (let bytes = 0; bytes < 1_600; bytes += 23) {
        proxy.cut();
        proxy.mend();
        proxy.answerBytesMax = bytes;
        const ends = await Promise.allSettled([
          database.rows(sql("SELECT 1 AS one")),
          database.transact((session) => session.rows(sql("SELECT repeat('x', 100) AS text"))),
          database.commit((session) => session.rows(sql("SELECT ?::text AS text"), ["y".repeat(100)])),
        ]);
        for (const { status } of ends) {
          if (status === "fulfilled") whole += 1;
          else broken += 1;
        }
      }
      expect(broken).toBeGreaterThan(50);
      expect(whole).toBeGreaterThan(20);
      proxy.answerBytesMax = Infinity;
      const one = (): Promise<unknown> => database.rows(sql("SELECT 1 AS one")).catch(() => "away");
      await expect.poll(one).toEqual([{ one: 1n }]);
    });
    await proxy.close();
    process.off("unhandledRejection", onRejection);
    expect(left).toEqual([]);
  });

  test("a statement that takes too long is ended on the server", async () => {
    await opened(await makeDatabase(), async (database) => {
      const slow = database.transact((session) => session.run(sql("SELECT pg_sleep(60)")), { statementMs: 200 });
      await expect(slow).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
      const found = sql(
        "SELECT count(*) AS count FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(60)%' AND state = 'active'",
      );
      expect(await database.rows(found)).toEqual([{ count: 0n }]);
    });
  });
});

describe.skipIf(postgresMissing ?? pgbouncerMissing)("behind PgBouncer in transaction mode", () => {
  test("a store holds, settles and is proven, with more calls at once than the server has sessions", async () => {
    // Two sessions of the server for all.
    const url = await startPgbouncer(await makeStoreDatabase(), { "default_pool_size = 20": "default_pool_size = 2" });
    const store = await openPostgresStore({ url, nodeId: "node_1" });
    await store.accounts.create({ id: "acme", name: "Acme", createTimeMs: NOON_MS }, TEST_ACT);
    await store.ledger.commit([creditOf(1_000n)]);
    const ids = Array.from({ length: 40 }, (_, index) => `r${index}`);
    await Promise.all(ids.map((requestId) => store.ledger.commit([holdOf({ requestId }), settleOf({ requestId })])));
    const receipts = await Promise.all(ids.map((requestId) => store.requests.receipt(requestId)));
    expect(receipts.every((receipt) => receipt?.request.state === "settled")).toBe(true);
    expect((await store.ledger.verify()).problems).toEqual([]);
    await store.close();
  });
});

describe.skipIf(postgresMissing)("the schema", () => {
  const serves = { version: 1, program: "0.1.0" };
  const steps: readonly PostgresMigration[] = [
    { version: 1, sql: "CREATE TABLE thing (id bigint PRIMARY KEY)", serves },
    { version: 2, sql: "INSERT INTO thing VALUES (2); ALTER TABLE thing ADD COLUMN name text", serves },
    { version: 3, sql: "INSERT INTO thing VALUES (3, 'new')", serves: { version: 2, program: "0.2.0" } },
  ];

  test.each([0, 1, 2, 3])(
    "comes from version %i to the newest, each step once, whoever starts beside",
    async (version) => {
      const url = await makeDatabase();
      await opened(url, async (database) => {
        if (version > 0) await migrate(database, steps.slice(0, version), []);
        await Promise.all(Array.from({ length: 4 }, () => migrate(database, steps, [])));
        expect(await database.rows(sql("SELECT id FROM thing ORDER BY id"))).toEqual([{ id: 2n }, { id: 3n }]);
      });
    },
  );

  test("of a newer program is served to the older that it names, and refused to others", async () => {
    await opened(await makeDatabase(), async (database) => {
      await migrate(database, steps, []);
      await migrate(database, steps.slice(0, 2), []);
      await expect(migrate(database, steps.slice(0, 1), [])).rejects.toThrow(
        "schema version 3, which serves Tollgate 0.2.0 and later: this program is older and knows versions up to 1",
      );
    });
  });

  test("of a build that made one of the same versions by another step is refused, whichever is newer", async () => {
    const [first, second, third] = steps;
    const others = [
      [{ ...first, sql: "CREATE TABLE thing (id bigint PRIMARY KEY, other text)" }],
      [{ ...first, sql: "CREATE TABLE thing (id bigint PRIMARY KEY, other text)" }, second, third],
      [first, { ...second, sql: "ALTER TABLE thing ADD COLUMN other text" }, third],
    ] as PostgresMigration[][];
    for (const made of others)
      await opened(await makeDatabase(), async (database) => {
        await migrate(database, made, []);
        await expect(migrate(database, steps, [])).rejects.toThrow(
          `was made by another build, whose schema version ${made[0]?.sql === first?.sql ? 2 : 1} was never released`,
        );
        expect(await database.rows(sql("SELECT version FROM tollgate_schema"))).toEqual([
          { version: BigInt(made.length) },
        ]);
        await migrate(database, made, []);
      });
    // One that was made before builds wrote down by what steps.
    await opened(await makeDatabase(), async (database) => {
      await migrate(database, steps, []);
      await database.script("ALTER TABLE tollgate_schema DROP COLUMN steps");
      await expect(migrate(database, steps, [])).rejects.toThrow("whose schema version 1 was never released");
    });
  });

  test("waits for a long reader of a table that it changes, and keeps nobody else waiting", async () => {
    await opened(await makeDatabase(), async (database) => {
      await migrate(database, steps.slice(0, 1), []);
      let read = (): void => undefined;
      const reading = new Promise<void>((resolve) => (read = resolve));
      let begun = (): void => undefined;
      const hasBegun = new Promise<void>((resolve) => (begun = resolve));
      const reader = database.transact(
        async (session) => {
          await session.rows(sql("SELECT id FROM thing"));
          begun();
          await reading;
        },
        { snapshot: true },
      );
      await hasBegun;
      const migrating = migrate(database, steps, []);
      // Each is refused after 3 s where it stands behind the migration.
      for (let id = 10n; id < 13n; id++) {
        await database.run(sql("INSERT INTO thing VALUES ($1)"), [id]);
        await allowTimeToFail(700);
      }
      read();
      await Promise.all([reader, migrating]);
      const ids = [2n, 3n, 10n, 11n, 12n].map((id) => ({ id }));
      expect(await database.rows(sql("SELECT id FROM thing ORDER BY id"))).toEqual(ids);
    });
  });

  test("stays as it was where a step fails", async () => {
    await opened(await makeDatabase(), async (database) => {
      await migrate(database, steps.slice(0, 1), []);
      const broken = { version: 2, sql: "INSERT INTO thing VALUES (2); INSERT INTO nothing VALUES (1)", serves };
      await expect(migrate(database, [...steps.slice(0, 1), broken], [])).rejects.toThrow();
      expect(await database.rows(sql("SELECT id FROM thing"))).toEqual([]);
      await migrate(database, steps, []);
    });
  });

  test("is not put beside another program's tables, and one secret has one database", async () => {
    await opened(await makeDatabase(), async (database) => {
      await database.script("CREATE TABLE theirs (id int)");
      await expect(migrate(database, MIGRATIONS, [])).rejects.toThrow("another program's");
    });
    await opened(await makeDatabase(), async (database) => {
      await migrate(database, MIGRATIONS, ["a"]);
      await migrate(database, MIGRATIONS, ["a"]);
      await migrate(database, MIGRATIONS, ["b", "a"]);
      await migrate(database, MIGRATIONS, ["b"]);
      await expect(migrate(database, MIGRATIONS, ["a"])).rejects.toThrow("TOLLGATE_SECRET is not the one");
    });
  });
});
