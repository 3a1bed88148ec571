/** Statements and receipts over a real database: every entry once, and sums that are the ledger's. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { LedgerOperation } from "../../src/ledger/operation.js";
import type { StatementPage, StatementPeriod, Store } from "../../src/store/store.js";
import { MINUTE_MS, NOON_MS, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { onEachStore, openStore, type StoreDriver } from "../support/stores.js";
import { bySweep } from "../support/sweep.js";
import { TEST_ACT } from "../support/acts.js";

const ALWAYS: StatementPeriod = { fromMs: undefined, toMs: undefined };

async function storeWith(driver: StoreDriver, ...operations: readonly LedgerOperation[]): Promise<Store> {
  const store = await openStore(driver);
  for (const id of ["acme", "other"]) await store.accounts.create({ id, name: id, createTimeMs: NOON_MS }, TEST_ACT);
  await store.ledger.commit(operations);
  return store;
}

async function page(store: Store, period: StatementPeriod, size: number, token = ""): Promise<StatementPage> {
  const found = await store.ledger.statement("acme", period, { size, token });
  expect(found).toBeDefined();
  return found!;
}

/** All pages of a statement, each of which begins where the one before it ended. */
async function readAll(store: Store, period: StatementPeriod, size: number): Promise<StatementPage> {
  const first = await page(store, period, size);
  const entries = [...first.entries];
  let last = first;
  while (last.nextPageToken !== "") {
    expect(last.entries).toHaveLength(size);
    const next = await page(store, period, size, last.nextPageToken);
    expect(next.opening).toEqual(last.closing);
    entries.push(...next.entries);
    last = next;
  }
  return { opening: first.opening, entries, closing: last.closing, nextPageToken: "", archivedUntilMs: undefined };
}

/** Recomputes what stood on the account after each entry, from what each changed. */
function expectRunning({ opening, entries, closing }: StatementPage): void {
  let { availableNanos, heldNanos } = opening;
  for (const entry of entries) {
    availableNanos += entry.availableChangeNanos;
    heldNanos += entry.heldChangeNanos;
    expect(entry).toMatchObject({ availableNanos, heldNanos });
  }
  expect(closing).toEqual({ availableNanos, heldNanos });
}

const LIVES = bySweep({ short: 5, long: 20, all: 20 });

/** A life of two accounts, whose clock may jump back. */
const LIFE = fc.array(
  fc.record({
    kind: fc.constantFrom("credit", "hold", "settle", "dear", "void"),
    request: fc.integer({ min: 0, max: 5 }),
    accountId: fc.constantFrom("acme", "acme", "other"),
    amountNanos: fc.bigInt({ min: 0n, max: 50n }),
    stepMs: fc.integer({ min: -30_000, max: 60_000 }),
  }),
  { minLength: 20, maxLength: 60 },
);

function operationsOf(
  life: (typeof LIFE extends fc.Arbitrary<infer Life> ? Life : never)[number][],
): LedgerOperation[] {
  let nowMs = NOON_MS;
  return life.map(({ kind, request, accountId, amountNanos, stepMs }, index) => {
    nowMs += stepMs;
    const requestId = `${accountId}-${request}`;
    if (kind === "credit") return creditOf(amountNanos + 1n, { accountId, creditId: `c${index}`, nowMs });
    if (kind === "hold") return holdOf({ requestId, accountId, amountNanos, nowMs });
    if (kind === "void") return voidOf({ requestId, nowMs });
    return settleOf({ requestId, costNanos: kind === "dear" ? 1_000n : amountNanos, nowMs });
  });
}

onEachStore((driver) => {
  describe("a statement", () => {
    test("holds each entry of its period once, with running sums that end at the balance", async () => {
      let entriesSeen = 0;
      const property = fc.asyncProperty(
        LIFE,
        fc.integer({ min: -5 * MINUTE_MS, max: 30 * MINUTE_MS }),
        fc.integer({ min: 1, max: 9 }),
        async (life, splitMs, size) => {
          const store = await openStore(driver);
          for (const id of ["acme", "other"])
            await store.accounts.create({ id, name: id, createTimeMs: NOON_MS }, TEST_ACT);
          await store.ledger.commit([creditOf(500n, { creditId: "first" }), ...operationsOf(life)]);
          const all = await readAll(store, ALWAYS, size);
          expectRunning(all);
          expect(all.opening).toEqual({ availableNanos: 0n, heldNanos: 0n });
          expect(await store.ledger.balance("acme")).toMatchObject(all.closing);
          const listed = await store.ledger.entries("acme", { size: 1_000, token: "" });
          expect(all.entries.map(({ id }) => id)).toEqual(listed.rows.map(({ id }) => id).toReversed());

          // Two statements that meet at a moment are the whole, whatever the clock did.
          const before = await readAll(store, { fromMs: undefined, toMs: NOON_MS + splitMs }, size);
          const after = await readAll(store, { fromMs: NOON_MS + splitMs, toMs: undefined }, size);
          expectRunning(before);
          expectRunning(after);
          expect(after.opening).toEqual(before.closing);
          expect([...before.entries, ...after.entries]).toEqual(all.entries);
          entriesSeen += all.entries.length;
          await store.close();
        },
      );
      await fc.assert(property, { numRuns: LIVES, verbose: 1 });
      expect(entriesSeen).toBeGreaterThan(LIVES * 5);
    });

    test("of a period in the middle of thousands of entries opens with the sum of all before it", async () => {
      const store = await storeWith(driver);
      const operations: LedgerOperation[] = [];
      for (let minute = 0; minute < 2_500; minute++)
        operations.push(creditOf(BigInt(minute + 1), { creditId: `c${minute}`, nowMs: NOON_MS + minute * MINUTE_MS }));
      for (let at = 0; at < operations.length; at += 250) await store.ledger.commit(operations.slice(at, at + 250));
      // The first is reached from the beginning, the second from the end; the sum of 1 to n is n(n+1)/2.
      for (const [from, to] of [
        [1_100, 1_103],
        [2_400, 2_402],
        [0, 2],
        [2_498, 5_000],
      ] as const) {
        const period = { fromMs: NOON_MS + from * MINUTE_MS, toMs: NOON_MS + to * MINUTE_MS };
        const { opening, entries, closing } = await page(store, period, 10);
        const end = BigInt(Math.min(to, 2_500));
        expect(opening.availableNanos).toBe((BigInt(from) * BigInt(from + 1)) / 2n);
        expect(closing.availableNanos).toBe((end * (end + 1n)) / 2n);
        expect(entries).toHaveLength(Number(end) - from);
      }
    });

    test("shows on later pages nothing that was booked after the first", async () => {
      const store = await storeWith(driver, creditOf(5n), creditOf(7n, { creditId: "c2" }));
      const first = await page(store, ALWAYS, 1);
      await store.ledger.commit([creditOf(100n, { creditId: "c3" })]);
      const second = await page(store, ALWAYS, 1, first.nextPageToken);
      expect(second).toMatchObject({ closing: { availableNanos: 12n }, nextPageToken: "" });
      expect((await page(store, ALWAYS, 10)).closing.availableNanos).toBe(112n);
    });

    test("of an account with nothing on it is empty, and of nobody there is none", async () => {
      const store = await storeWith(driver);
      const nothing = { availableNanos: 0n, heldNanos: 0n };
      expect(await page(store, ALWAYS, 10)).toEqual({
        opening: nothing,
        entries: [],
        closing: nothing,
        nextPageToken: "",
      });
      for (const id of ["nobody", "operator:revenue"])
        expect(await store.ledger.statement(id, ALWAYS, { size: 1, token: "" })).toBeUndefined();
    });

    test("takes the token of the same account and period alone", async () => {
      const store = await storeWith(driver, creditOf(5n), creditOf(7n, { creditId: "c2" }));
      const token = (await page(store, ALWAYS, 1)).nextPageToken;
      const refused = { reason: "ERROR_REASON_PARAMETER_INVALID", metadata: { param: "page_token" } };
      const other = store.ledger.statement("other", ALWAYS, { size: 1, token });
      await expect(other).rejects.toMatchObject(refused);
      const later = store.ledger.statement("acme", { fromMs: NOON_MS, toMs: undefined }, { size: 1, token });
      await expect(later).rejects.toMatchObject(refused);
      const listed = await store.ledger.entries("acme", { size: 1, token: "" });
      const strange = store.ledger.statement("acme", ALWAYS, { size: 1, token: listed.nextPageToken });
      await expect(strange).rejects.toMatchObject(refused);
    });
  });

  describe("a receipt", () => {
    test("shows every transfer of its request, and what the operator paid above the hold", async () => {
      const store = await storeWith(
        driver,
        creditOf(20n),
        holdOf(),
        holdOf({ requestId: "r2" }),
        settleOf({ costNanos: 25n }),
      );
      const receipt = await store.requests.receipt("r1");
      expect(receipt?.request).toMatchObject({
        costNanos: 25n,
        chargedNanos: 10n,
        overageNanos: 15n,
        state: "settled",
      });
      expect(receipt?.entries).toMatchObject([
        { id: "h:r1", amountNanos: 10n, availableChangeNanos: -10n, heldChangeNanos: 10n, debitAccount: "acme" },
        { id: "s:r1", amountNanos: 10n, availableChangeNanos: 0n, heldChangeNanos: -10n, debitAccount: "acme" },
        {
          id: "o:r1",
          amountNanos: 15n,
          availableChangeNanos: 0n,
          heldChangeNanos: 0n,
          debitAccount: "operator:overage",
        },
      ]);
      expect(await store.requests.receipt("r2")).toMatchObject({
        request: { state: "held" },
        entries: [{ id: "h:r2" }],
      });
      expect(await store.requests.receipt("c1")).toBeUndefined();
    });
  });
});
