/** What a store must do, whichever database it keeps its rows in. */
import { describe, expect, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import {
  type KeyFilter,
  type KeyRow,
  type Page,
  type PageRequest,
  searchTextOf,
  type Store,
} from "../../src/store/store.js";
import { letGo, recover } from "../ledger/cases.js";
import { NOON_MS, checkpointOf, creditOf, holdOf, settleOf, usage, voidOf } from "../ledger/operations.js";
import { onEachStore, openStore, OWNED, STORE_DRIVERS } from "../support/stores.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";

function keyOf(given: Partial<KeyRow>): KeyRow {
  return {
    id: "key_1",
    accountId: "acme",
    settings: new Uint8Array([10, 1]),
    digest: new Uint8Array([1]),
    previousDigest: null,
    previousUntilMs: null,
    hint: "sk-a...b",
    createTimeMs: NOON_MS,
    revokeTimeMs: null,
    fileState: "",
    makerId: null,
    makerUserId: null,
    revision: 1,
    ...given,
  };
}

onEachStore(
  (driver) => {
    async function storeWith(...operations: readonly LedgerOperation[]): Promise<Store> {
      const store = await openStore(driver);
      for (const id of ["acme", "other"])
        await store.accounts.create({ id, name: id, createTimeMs: NOON_MS }, TEST_ACT);
      await store.ledger.commit([creditOf(100n), ...operations]);
      return store;
    }

    describe("a commit", () => {
      test("grants exactly what the balance covers, however many ask at once", async () => {
        const store = await storeWith();
        const holds = Array.from({ length: 1000 }, (_, index) => holdOf({ requestId: `r${index}` }));
        const results = (await Promise.all(holds.map((hold) => store.ledger.commit([hold])))).flat();
        expect(results.filter(({ kind }) => kind === "held")).toHaveLength(10);
        expect(results.filter(({ kind }) => kind === "balance_too_low")).toHaveLength(990);
        expect(await store.ledger.balance("acme")).toMatchObject({ availableNanos: 0n, heldNanos: 100n });
        expect((await store.ledger.verify()).problems).toEqual([]);
      });

      test("answers in order, and a refusal in it stops no other", async () => {
        const store = await storeWith();
        const results = await store.ledger.commit([
          holdOf({ amountNanos: 60n }),
          holdOf({ requestId: "r2", amountNanos: 60n }),
          settleOf({ requestId: "r9" }),
          settleOf(),
          holdOf({ requestId: "r3", amountNanos: 96n }),
        ]);
        expect(results.map(({ kind }) => kind)).toEqual(["held", "balance_too_low", "refused", "settled", "held"]);
      });

      test("after closing is refused as unavailable", async () => {
        const store = await storeWith();
        await store.close();
        await expect(store.ledger.commit([holdOf()])).rejects.toMatchObject({
          reason: "ERROR_REASON_LEDGER_UNAVAILABLE",
        });
        await expect(store.check()).rejects.toMatchObject({ reason: "ERROR_REASON_LEDGER_UNAVAILABLE" });
      });
    });

    describe("a list", () => {
      async function all<Row>(read: (page: PageRequest) => Promise<Page<Row>>, size: number): Promise<Row[]> {
        const rows: Row[] = [];
        let token = "";
        do {
          const page = await read({ size, token });
          expect(page.rows.length).toBeLessThanOrEqual(size);
          rows.push(...page.rows);
          token = page.nextPageToken;
        } while (token !== "");
        return rows;
      }

      test("gives every row once, in order, however many at a time", async () => {
        const ids = ["r1", "r2", "r3", "r4", "r5"];
        // Two of them share their time, so that the id decides.
        const holds = ids.map((requestId, index) => holdOf({ requestId, nowMs: NOON_MS + Math.floor(index / 2) }));
        const store = await storeWith(...holds);
        for (const id of ["a", "b", "c"]) await store.accounts.create({ id, name: id, createTimeMs: 1 }, TEST_ACT);
        for (const [index, id] of ids.entries())
          await store.keys.create(
            keyOf({ id, digest: new Uint8Array([index]), createTimeMs: Math.floor(index / 2) }),
            TEST_EVENT,
          );
        const newest = ids.toReversed();
        const byId = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);
        for (const size of [1, 2, 3, 100]) {
          expect(byId(await all((page) => store.accounts.list(page), size))).toEqual(["a", "acme", "b", "c", "other"]);
          expect(byId(await all((page) => store.requests.list(undefined, page), size))).toEqual(newest);
          expect(byId(await all((page) => store.requests.list("acme", page), size))).toEqual(newest);
          expect(byId(await all((page) => store.requests.list("other", page), size))).toEqual([]);
          expect(byId(await store.requests.running(undefined, size))).toEqual(newest.slice(0, size));
          expect(byId(await store.requests.running("acme", size))).toEqual(newest.slice(0, size));
          expect(await store.requests.running("other", size)).toEqual([]);
          expect(byId(await store.requests.many([...ids.slice(0, size), "none"])).toSorted()).toEqual(
            ids.slice(0, size),
          );
          expect(byId(await all((page) => store.keys.list({}, page), size))).toEqual(newest);
          expect(byId(await all((page) => store.keys.list({ accountId: "acme" }, page), size))).toEqual(newest);
          const entries = await all((page) => store.ledger.entries("acme", page), size);
          expect(byId(entries)).toEqual([...newest.map((id) => `h:${id}`), "c:c1"]);
        }
      });

      const FILTERS: readonly { name: string; filter: KeyFilter; want: string[] }[] = [
        { name: "all", filter: {}, want: ["play_5", "key_4", "key_3", "key_2", "key_1"] },
        { name: "a text in another case", filter: { text: "PRODUCTION" }, want: ["key_2", "key_1"] },
        { name: "letters beyond A to Z", filter: { text: "ÜBUNG" }, want: ["key_3"] },
        { name: "what stands in patterns", filter: { text: "100%_" }, want: ["key_4"] },
        { name: "an end of a pattern", filter: { text: "\\" }, want: ["key_4"] },
        { name: "a hint", filter: { text: "sk-3" }, want: ["key_3"] },
        { name: "an id", filter: { text: "KEY_2" }, want: ["key_2"] },
        { name: "a text that none has", filter: { text: "staging" }, want: [] },
        { name: "the revoked", filter: { isRevoked: true }, want: ["key_2"] },
        { name: "the others", filter: { isRevoked: false }, want: ["play_5", "key_4", "key_3", "key_1"] },
        {
          name: "ids that begin otherwise",
          filter: { idsWithout: "play_" },
          want: ["key_4", "key_3", "key_2", "key_1"],
        },
        { name: "all of these", filter: { accountId: "acme", text: "production", isRevoked: false }, want: ["key_1"] },
        { name: "another account", filter: { accountId: "other", text: "production" }, want: [] },
      ];

      test("of keys has what its filter says, page by page", async () => {
        const store = await storeWith();
        const names = ["Production", "production, old", "Übung", "100%_\\", "production of nobody"];
        for (const [index, name] of names.entries()) {
          const id = index === 4 ? "play_5" : `key_${index + 1}`;
          const hint = `sk-${index + 1}...x`;
          const row = keyOf({ id, hint, digest: new Uint8Array([index]), createTimeMs: index });
          const searchText = index === 4 ? searchTextOf("", hint, id) : searchTextOf(name, hint, id);
          const revokeTimeMs = index === 1 ? NOON_MS : null;
          expect(await store.keys.create({ ...row, searchText, revokeTimeMs }, TEST_EVENT)).toBe(true);
        }
        for (const { name, filter, want } of FILTERS)
          for (const size of [1, 2, 100]) {
            const found = await all((page) => store.keys.list(filter, page), size);
            expect(
              found.map(({ id }) => id),
              name,
            ).toEqual(want);
          }
      });

      const TOKENS = ["x", "e30", Buffer.from('["accounts",7]').toString("base64url"), "WyJyZXF1ZXN0cyIsIngiXQ"];

      test("refuses any other token, and a size out of bounds", async () => {
        const store = await storeWith();
        for (const token of TOKENS) {
          const refusal = { reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "page_token" } };
          await expect(store.accounts.list({ size: 1, token })).rejects.toMatchObject(refusal);
          await expect(store.requests.list("acme", { size: 1, token })).rejects.toMatchObject(refusal);
          await expect(store.keys.list({ accountId: "acme" }, { size: 1, token })).rejects.toMatchObject(refusal);
          await expect(store.ledger.entries("acme", { size: 1, token })).rejects.toMatchObject(refusal);
        }
        const refusal = { reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "page_size" } };
        for (const size of [0, -1, 1001, 1.5])
          await expect(store.accounts.list({ size, token: "" })).rejects.toMatchObject(refusal);
      });
    });

    describe("a request", () => {
      test.each([
        {
          name: "that runs is held",
          operations: [holdOf()],
          want: { state: "held", costNanos: 0n, usageSource: 0, endTimeMs: null },
        },
        {
          name: "that runs shows its checkpoint",
          operations: [holdOf(), checkpointOf()],
          want: { state: "held", costNanos: 2n, usage: usage(2n), upstream: "sim" },
        },
        {
          name: "that was charged is settled",
          operations: [holdOf(), settleOf({ attemptLog: "[]" })],
          want: {
            state: "settled",
            costNanos: 4n,
            usage: usage(3n),
            usageSource: 1,
            upstream: "sim",
            attempts: 1,
            attemptLog: "[]",
            endTimeMs: NOON_MS + 1000,
          },
        },
        {
          name: "that cost more than its hold shows the whole cost",
          operations: [holdOf(), settleOf({ costNanos: 13n })],
          want: { state: "settled", costNanos: 13n, holdNanos: 10n },
        },
        {
          name: "that generated nothing is voided",
          operations: [holdOf(), voidOf()],
          want: { state: "voided", costNanos: 0n, usageSource: 4 },
        },
        {
          name: "that nobody settled is expired",
          operations: [holdOf(), letGo()],
          want: { state: "expired", costNanos: 0n, usageSource: 0 },
        },
        {
          name: "that was recovered says so",
          operations: [holdOf(), checkpointOf(), recover()],
          want: { state: "settled", costNanos: 2n, usageSource: 3, attempts: 1, attemptLog: null },
        },
      ])("$name", async ({ operations, want }) => {
        const store = await storeWith(...operations);
        expect(await store.requests.get("r1")).toMatchObject({
          id: "r1",
          accountId: "acme",
          keyId: "key_1",
          model: "sim-1",
          price: new Uint8Array([8, 1]),
          createTimeMs: NOON_MS,
          ...want,
        });
      });

      test("that is unknown is undefined", async () => {
        const store = await storeWith();
        expect(await store.requests.get("r1")).toBeUndefined();
        expect(await store.ledger.balance("nobody")).toBeUndefined();
        expect(await store.accounts.get("nobody")).toBeUndefined();
        expect(await store.accounts.get("operator:revenue")).toBeUndefined();
        expect(await store.keys.get("nobody")).toBeUndefined();
      });

      test("is added up by day, account, key and model, but for those that generated nothing", async () => {
        const tomorrowMs = NOON_MS + 86_400_000;
        const requests = [
          holdOf(),
          holdOf({ requestId: "r2" }),
          holdOf({ requestId: "r3", keyId: "key_2" }),
          holdOf({ requestId: "r4", nowMs: tomorrowMs }),
          holdOf({ requestId: "r5" }),
        ];
        const ends = [settleOf(), ...["r2", "r3", "r4"].map((requestId) => settleOf({ requestId }))];
        const store = await storeWith(...requests, ...ends, voidOf({ requestId: "r5" }));
        const sum = { accountId: "acme", model: "sim-1" };
        const one = { requestCount: 1, costNanos: 4n, refundedNanos: 0n, usage: usage(3n) };
        const rows = [
          { ...sum, day: "2026-11-21", keyId: "key_1", ...one, requestCount: 2, costNanos: 8n, usage: usage(6n) },
          { ...sum, day: "2026-11-21", keyId: "key_2", ...one },
          { ...sum, day: "2026-11-22", keyId: "key_1", ...one },
        ];
        const month = { fromDay: "2026-11-01", toDay: "2026-11-30" };
        const whole = { size: 100, token: "" };
        const total = { requestCount: 4, costNanos: 16n, refundedNanos: 0n, usage: usage(12n) };
        expect(await store.requests.summarize(undefined, month, whole)).toMatchObject({
          rows,
          nextPageToken: "",
          total,
        });
        const day = { fromDay: "2026-11-22", toDay: "2026-11-22" };
        expect(await store.requests.summarize("acme", day, whole)).toMatchObject({ rows: rows.slice(2), total: one });
        const none = { requestCount: 0, costNanos: 0n, usage: usage(0n) };
        expect(await store.requests.summarize("other", month, whole)).toMatchObject({ rows: [], total: none });
        // Page by page: nothing is lost or told twice, and each page tells the total of all.
        const paged = [];
        for (let token: string | undefined = ""; token !== undefined;) {
          const page = await store.requests.summarize(undefined, month, { size: 1, token });
          expect(page.total).toMatchObject(total);
          paged.push(...page.rows);
          token = page.nextPageToken || undefined;
        }
        expect(paged).toMatchObject(rows);
      });
    });

    describe("a key", () => {
      test("comes back as it was made", async () => {
        const store = await storeWith();
        const previous = { previousDigest: new Uint8Array([2]), previousUntilMs: 7, revokeTimeMs: 9 };
        for (const key of [keyOf({}), keyOf({ id: "key_2", digest: new Uint8Array([3]), ...previous })]) {
          expect(await store.keys.create(key, TEST_EVENT)).toBe(true);
          expect(await store.keys.get(key.id)).toEqual(key);
          expect(await store.keys.findByDigest(key.digest)).toEqual(key);
        }
        expect(await store.keys.findByDigest(previous.previousDigest)).toMatchObject({ id: "key_2" });
        expect(await store.keys.findByDigest(new Uint8Array([9]))).toBeUndefined();
      });

      test("is not made where its digest or id is taken", async () => {
        const store = await storeWith();
        await store.keys.create(keyOf({ previousDigest: new Uint8Array([2]) }), TEST_EVENT);
        expect(await store.keys.create(keyOf({ id: "key_2" }), TEST_EVENT)).toBe(false);
        expect(await store.keys.create(keyOf({ id: "key_2", digest: new Uint8Array([2]) }), TEST_EVENT)).toBe(false);
        expect(await store.keys.create(keyOf({ digest: new Uint8Array([3]) }), TEST_EVENT)).toBe(false);
      });

      test("is replaced by the first of two changes, and the second is told", async () => {
        const store = await storeWith();
        await store.keys.create(keyOf({}), TEST_EVENT);
        const changes = [keyOf({ revision: 2, hint: "first" }), keyOf({ revision: 2, hint: "second" })];
        expect(await Promise.all(changes.map((key) => store.keys.replace(key, TEST_EVENT)))).toEqual([true, false]);
        expect(await store.keys.get("key_1")).toMatchObject({ revision: 2, hint: "first" });
        expect(await store.keys.replace(keyOf({ id: "key_9", revision: 2 }), TEST_EVENT)).toBe(false);
      });
    });

    describe("an account", () => {
      test("is made once, and changed by who knows its etag", async () => {
        const store = await storeWith();
        expect(await store.accounts.create({ id: "acme", name: "else", createTimeMs: 1 }, TEST_ACT)).toBe(false);
        expect(await store.accounts.setSettings("acme", { budgetDayNanos: 7n }, "x", TEST_ACT)).toBe("stale");
        const changed = await store.accounts.setSettings("acme", { budgetDayNanos: 7n }, "", TEST_ACT);
        expect(changed).toMatchObject({ name: "acme", budgets: { budgetDayNanos: 7n, budgetMonthNanos: 0n } });
        expect(await store.accounts.get("acme")).toEqual(changed);
        expect(await store.accounts.setSettings("nobody", { budgetDayNanos: 7n }, "", TEST_ACT)).toBeUndefined();
      });

      test("is frozen, and nothing is held of it until it is not", async () => {
        const store = await storeWith();
        const freeze = { timeMs: 5, reason: "why", actor: "who", endsStreams: true };
        expect(await store.accounts.setFreeze("acme", freeze, TEST_ACT)).toMatchObject({ freeze });
        expect(await store.ledger.commit([holdOf()])).toEqual([{ kind: "account_frozen" }]);
        expect(await store.accounts.setFreeze("nobody", freeze, TEST_ACT)).toBeUndefined();
        await store.accounts.setFreeze("acme", null, TEST_ACT);
        expect(await store.ledger.commit([holdOf()])).toMatchObject([{ kind: "held" }]);
        expect((await store.ledger.verify()).problems).toEqual([]);
      });
    });
  },
  [...STORE_DRIVERS, OWNED],
);
