/** Lists are read in pages: nobody who makes rows without number makes the database's thread read all of them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ALERT_STATEMENTS } from "../../src/store/alert-statements.js";
import { COUNT_KEYS } from "../../src/store/key-rows.js";
import { INVITATIONS_MAX } from "../../src/store/member-scripts.js";
import type { LinkRow } from "../../src/store/people-rows.js";
import type { Sqlite } from "../../src/store/sqlite/binding.js";
import { sqliteCalls } from "../../src/store/sqlite/database.js";
import { openSqliteFile } from "../../src/store/sqlite/database-file.js";
import { eventOf, gatewayAct } from "../../src/audit/act.js";
import { type KeyRow, KEYS_MAX, type Store } from "../../src/store/store.js";
import { openPeople, OPERATOR } from "../identity/people-world.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { onEachStore, openStore } from "../support/stores.js";

/** What tenants and their requests make, row by row. */
const TENANTS = new Set(
  `account alert alert_state audit_event budget delivery delivery_attempt event gateway_user hold key link
  known_address membership oidc_identity oidc_used open_hold passkey passkey_challenge payment payment_booking
  payment_dispute payment_refund playground_key recovery_code second_factor session stripe_event top_up_code
  transfer usage usage_day usage_day_meter webhook`.split(/\s+/u),
);

/** Statements that give more than one row without a LIMIT, and why they are few. */
const BOUNDED_OTHERWISE: Readonly<Record<string, string>> = {
  CORRECTED: "one row for each of two kinds",
  SPENT: "one row for each of three periods",
  TRANSFERS: "the beginning of statements, which ask for one transfer or have a LIMIT",
  MEMBERS: "the beginning of statements, which ask for one member or have a LIMIT",
  USERS: "the beginning of statements, which ask for one user or have a LIMIT",
  "SELECT *, ${sort} AS sort_value FROM acc": "the beginning of a statement that ends with a LIMIT",
  "SELECT DISTINCT node_id FROM open_hold": "one row for each node",
};

/** The constants of these modules that are texts, with those in them filled in. */
function textsIn(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !/verify|proof|copy|schema/u.test(name));
  const source = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const named = new Map<string, string>();
  for (const [, name = "", , text = ""] of source.matchAll(/const (\w+)(?:: \w+)? =\s*(["`])([^`"]*?)\2;/gu))
    named.set(name, text);
  // The statements of alerts are values of an object, and are looked at as those.
  for (const [, text = ""] of source.matchAll(/["`]((?:SELECT\b|\$\{[A-Z_]+\} )[^`"]*?)["`]/gu))
    if (![...named.values()].includes(text) && !text.includes("${whole(")) named.set(text.slice(0, 40), text);
  const filled = (text: string): string =>
    text.replaceAll(/\$\{(\w+)\}/gu, (whole, name: string) => {
      const found = named.get(name);
      return found === undefined ? whole : filled(found);
    });
  return new Map([...named].map(([name, text]) => [name, filled(text)]));
}

/** The sets of columns of which one row has each value. */
function uniqueOf(database: Sqlite, table: string): readonly ReadonlySet<string>[] {
  const names = (sql: string): string[] => database.prepare<[], string>(sql).pluck().all();
  const indexes = names(`SELECT name FROM pragma_index_list('${table}') WHERE "unique" = 1`);
  const keys = indexes.map((index) => names(`SELECT name FROM pragma_index_info('${index}')`));
  const row = names(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0`);
  return [...keys, row].filter((columns) => columns.length > 0).map((columns) => new Set(columns));
}

/** True where a statement may give as many rows as somebody made. */
function isUnbounded(database: Sqlite, sql: string): boolean {
  // What stands in brackets narrows a statement, and gives no rows of its own.
  let outer = sql;
  for (let before = ""; before !== outer;) {
    before = outer;
    outer = outer.replaceAll(/\([^()]*\)/gu, "~");
  }
  const [, table = ""] = /\bFROM (\w+)/u.exec(outer) ?? [];
  if (!/^SELECT\b/u.test(outer) || !TENANTS.has(table) || /\bLIMIT\b/u.test(outer)) return false;
  const isSum = /^SELECT (?:CAST~|(?:count|sum|max|min|coalesce)~)/iu.test(outer) && !/GROUP BY/u.test(outer);
  if (isSum) return false;
  const [, condition = ""] = /\bWHERE (.*)$/su.exec(outer) ?? [];
  const equal = new Set(Array.from(condition.matchAll(/(\w+) = (?:\?|:\w+)/gu), ([, column = ""]) => column));
  return !uniqueOf(database, table).some((columns) => [...columns].every((column) => equal.has(column)));
}

test("each statement that reads a list of what tenants make has a LIMIT, or a table says why not", () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-lists-"));
  const { database, close } = openSqliteFile(directory, undefined);
  const texts = [...textsIn("src/store"), ...textsIn("src/store/sqlite"), ...Object.entries(ALERT_STATEMENTS)];
  expect(texts.length).toBeGreaterThan(100);
  const unbounded = texts.filter(([, sql]) => isUnbounded(database, sql));
  expect(isUnbounded(database, "SELECT * FROM link WHERE account_id = ? ORDER BY id")).toBe(true);
  expect(unbounded.filter(([name]) => BOUNDED_OTHERWISE[name] === undefined)).toEqual([]);
  expect(Object.keys(BOUNDED_OTHERWISE).filter((name) => !unbounded.some(([found]) => found === name))).toEqual([]);
  close();
  rmSync(directory, { recursive: true });
});

onEachStore((driver) => {
  test("an account has a bounded number of open invitations, which are read in pages", async () => {
    const { identity, store, clock } = await openPeople(await openStore(driver));
    const asked = { accountId: "acme", role: "member", installationRole: null } as const;
    const link = (index: number): LinkRow => ({
      ...asked,
      id: `link_${String(index).padStart(4, "0")}`,
      digest: Buffer.alloc(32, index),
      kind: "invitation",
      email: null,
      userId: null,
      giverUserId: null,
      giverKeyId: null,
      createTimeMs: clock.nowMs,
      expireTimeMs: clock.nowMs + 60_000,
    });
    const rooms = [];
    for (let index = 0; index <= INVITATIONS_MAX; index++)
      rooms.push(await store.people.invite(link(index), TEST_EVENT));
    expect(rooms).toEqual([...Array<string>(INVITATIONS_MAX).fill("done"), "many_invitations"]);
    await expect(
      identity.members.invite({ ...asked, email: "", ttlSeconds: 0 }, OPERATOR, TEST_ACT),
    ).rejects.toMatchObject({ metadata: { problem: expect.stringContaining("revoke one of them first") as string } });

    const page = await identity.members.invitations("acme", "link_0009", 3);
    expect(page.map(({ id }) => id)).toEqual(["link_0010", "link_0011", "link_0012"]);
    // Those that are over make room by themselves.
    clock.nowMs += 61_000;
    expect(await store.people.invite(link(900), TEST_EVENT)).toBe("done");
  });
});

/** About what a key's settings may hold, and the record of a change of them. */
const LARGE = "x".repeat(60_000);
const LARGE_ROWS = 300;
const PAGE_BYTES_MAX = 5 * 1024 * 1024;

interface Listed {
  readonly rows: readonly unknown[];
  readonly nextPageToken: string;
}

onEachStore((driver) => {
  test.each<{
    name: string;
    fill: (store: Store, index: number) => Promise<unknown>;
    list: (store: Store, token: string) => Promise<Listed>;
    idOf: (row: never) => string;
  }>([
    {
      name: "the audit log",
      fill: (store, index) =>
        store.audit.append(eventOf(gatewayAct("test", index), { resource: `r/${index}`, accountId: "", after: LARGE })),
      list: (store, token) => store.audit.list({ resource: undefined }, { size: 1_000, token }),
      idOf: ({ resource }: { resource: string }) => resource,
    },
    {
      name: "keys",
      fill: (store, index) => store.keys.create(largeKey(index), TEST_EVENT),
      list: (store, token) => store.keys.list({ accountId: "acme" }, { size: 1_000, token }),
      idOf: ({ id }: { id: string }) => id,
    },
  ])("a page of $name holds a bounded number of bytes, and the pages together hold all of it", async (row) => {
    const store = await openStore(driver);
    const earlier = (await row.list(store, "")).rows.length;
    for (let index = 0; index < LARGE_ROWS; index += 1) await row.fill(store, index);
    const seen: string[] = [];
    let pages = 0;
    for (let token = ""; ;) {
      const page = await row.list(store, token);
      const bytes = JSON.stringify(page.rows, (_, value: unknown) =>
        value instanceof Uint8Array ? "x".repeat(value.length) : typeof value === "bigint" ? String(value) : value,
      ).length;
      expect(bytes).toBeLessThan(PAGE_BYTES_MAX);
      expect(page.rows.length).toBeGreaterThan(0);
      seen.push(...page.rows.map((one) => row.idOf(one as never)));
      pages += 1;
      token = page.nextPageToken;
      if (token === "") break;
    }
    expect(seen.length).toBe(earlier + LARGE_ROWS);
    expect(new Set(seen).size).toBeGreaterThanOrEqual(LARGE_ROWS);
    expect(pages).toBeGreaterThan(3);
  });
});

function largeKey(index: number): KeyRow {
  return {
    id: `key_${String(index).padStart(4, "0")}`,
    accountId: "acme",
    makerId: null,
    makerUserId: null,
    settings: Buffer.from(LARGE),
    digest: Buffer.from(`digest ${index}`.padEnd(32)),
    previousDigest: null,
    previousUntilMs: null,
    hint: "sk-…",
    createTimeMs: 5,
    revokeTimeMs: null,
    revision: 1,
  };
}

test("an account has a bounded number of keys that are not revoked", async () => {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-keys-"));
  const { database, close } = openSqliteFile(directory, undefined);
  const columns =
    "id, account_id, settings, digest, hint, search_text, create_time_ms, revoke_time_ms, revision, row_digest";
  const fill = (account: string, prefix: string, revokeTimeMs: string, count: number): void =>
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO key (${columns}) SELECT '${prefix}' || i, '${account}', x'', CAST('${prefix}' || i AS BLOB), 'sk-',
        '', 1, ${revokeTimeMs}, 1, x'' FROM n`);
  const calls = sqliteCalls(database);
  const make = (accountId: string, index: number): boolean =>
    calls.createKey({ ...largeKey(index), accountId, settings: Buffer.alloc(0) }, TEST_EVENT);
  // Those that are over take no room.
  fill("acme", "gone", "5", 30_000);
  fill("acme", "here", "NULL", KEYS_MAX - 1);
  expect(make("acme", 1)).toBe(true);
  expect(make("acme", 2)).toBe(false);
  expect(make("other", 3)).toBe(true);
  const plan = database.prepare<[string], { detail: string }>(`EXPLAIN QUERY PLAN ${COUNT_KEYS}`).all("acme");
  expect(plan.map(({ detail }) => detail).join()).toContain("COVERING INDEX key_alive");
  close();
  rmSync(directory, { recursive: true });
});
