/** Budgets of keys that make keys: what a key and all that it made hold and spend is within each maker's budget. */
import { fc } from "../support/seeds.js";
import { expect, onTestFinished, test } from "vitest";
import type { Book, CounterSource } from "../../src/ledger/book.js";
import type { KeyBudget, LedgerOperation } from "../../src/ledger/operation.js";
import type { Period } from "../../src/ledger/rows.js";
import { decide } from "../../src/ledger/state.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { bookOf, creditOf, holdOf, settleOf, voidOf } from "./operations.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { openTestStore } from "../support/open-test-store.js";
import { bySweep } from "../support/sweep.js";

/** Each key's maker, by number, which is lower than its own; -1 where an operator made it. */
type Tree = readonly number[];

const tree: fc.Arbitrary<Tree> = fc
  .array(fc.nat(1_000), { minLength: 2, maxLength: 9 })
  .map((draws) => draws.map((draw, index) => (draw % (index + 1)) - 1));
const periods = fc.constantFrom<Period>("day", "month", "total");
const act = fc.record({
  key: fc.nat(100),
  amountNanos: fc.bigInt(0n, 12n),
  /** How the oldest open request ends after it, where it does. */
  end: fc.constantFrom("none", "none", "settle", "void"),
  costNanos: fc.bigInt(0n, 12n),
});

function makersOf(tree: Tree, key: number): number[] {
  const maker = tree[key] ?? -1;
  return maker === -1 ? [] : [maker, ...makersOf(tree, maker)];
}

test("no order of requests takes a key and all that it made past the key's budget", () => {
  const life = fc.property(
    tree,
    periods,
    fc.array(fc.bigInt(1n, 40n), { minLength: 9, maxLength: 9 }),
    fc.array(act),
    (made, period, limits, acts) => {
      const book = bookOf(["acme"]);
      decide(book, creditOf(1_000_000n));
      const source: CounterSource = {
        makersOf: (id) => makersOf(made, Number(id)).map(String),
        load: () => undefined,
      };
      const open: { readonly requestId: string; readonly amountNanos: bigint }[] = [];
      for (const [index, { key, amountNanos, end, costNanos }] of acts.entries()) {
        const keyId = String(key % made.length);
        const hold = holdOf({
          requestId: `r${index}`,
          keyId,
          amountNanos,
          leastNanos: 0n,
          budgets: budgetsOf(made, Number(keyId), period, limits),
        });
        book.counters(keyId, "acme", hold.nowMs, source);
        const granted = decide(book, hold);
        if (granted.kind === "held") open.push({ requestId: hold.requestId, amountNanos: granted.amountNanos });
        checkBudgets(book, made, period, limits, source);
        const oldest = end === "none" ? undefined : open.shift();
        if (oldest === undefined) continue;
        const { requestId } = oldest;
        const cost = costNanos < oldest.amountNanos ? costNanos : oldest.amountNanos;
        const ending: LedgerOperation =
          end === "void" ? voidOf({ requestId }) : settleOf({ requestId, costNanos: cost });
        expect(decide(book, ending).kind).toBe("settled");
        checkBudgets(book, made, period, limits, source);
      }
    },
  );
  fc.assert(life, { numRuns: bySweep({ short: 100, long: 300, all: 300 }) });
});

function budgetsOf(made: Tree, key: number, period: Period, limits: readonly bigint[]): KeyBudget[] {
  const own = { period, limitNanos: limits[key] ?? 0n };
  return [own, ...makersOf(made, key).map((id) => ({ period, limitNanos: limits[id] ?? 0n, makerId: String(id) }))];
}

/** The sums are counted from the holds themselves. */
function checkBudgets(book: Book, made: Tree, period: Period, limits: readonly bigint[], source: CounterSource): void {
  for (const key of made.keys()) {
    const under = [...book.holds.values()].filter(({ keyId }) =>
      [keyId, ...source.makersOf(keyId)].includes(String(key)),
    );
    const used = under.reduce((sum, hold) => sum + (hold.state === "held" ? hold.amountNanos : hold.chargedNanos), 0n);
    expect(used <= (limits[key] ?? 0n), `key ${key} and what it made use ${used} in one ${period}`).toBe(true);
    const counter = book.counters(String(key), "acme", holdOf().nowMs, source).find((row) => row.period === period);
    expect((counter?.pendingNanos ?? 0n) + (counter?.spentNanos ?? 0n)).toBe(used);
  }
}

const ROW = {
  accountId: "acme",
  settings: new Uint8Array(),
  previousDigest: null,
  previousUntilMs: null,
  hint: "",
  createTimeMs: 0,
  revokeTimeMs: null,
  revision: 1,
};

test("a database that was closed in between counts a child's requests for its makers", async () => {
  const directory = temporaryDirectory();
  const first = await openTestStore(directory);
  await first.accounts.create({ id: "acme", name: "acme", createTimeMs: 0 }, TEST_ACT);
  for (const [id, makerId] of [
    ["key_1", null],
    ["key_2", "key_1"],
    ["key_3", "key_2"],
  ] as const)
    await first.keys.create({ ...ROW, id, makerId, digest: Buffer.from(id) }, TEST_EVENT);
  const budgets = (makerId: string): KeyBudget[] => [{ period: "total", limitNanos: 10n, makerId }];
  const hold = (requestId: string, amountNanos: bigint, keyId = "key_3") =>
    holdOf({ requestId, keyId, amountNanos, budgets: budgets("key_1") });
  const begun = await first.ledger.commit([creditOf(100n), hold("r1", 4n), hold("r2", 3n)]);
  expect(begun.map(({ kind }) => kind)).toEqual(["credited", "held", "held"]);
  await first.close();
  const second = await openTestStore(directory);
  onTestFinished(() => second.close());
  const results = await second.ledger.commit([
    settleOf({ requestId: "r1", costNanos: 4n }),
    hold("r3", 4n),
    hold("r4", 3n, "key_2"),
    settleOf({ requestId: "r2", costNanos: 3n }),
    hold("r5", 1n),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(["settled", "budget_exceeded", "held", "settled", "budget_exceeded"]);
  expect(results[1]).toMatchObject({ owner: "key", makerId: "key_1", period: "total", remainingNanos: 3n });
  expect((await second.ledger.verify()).problems).toEqual([]);
});
