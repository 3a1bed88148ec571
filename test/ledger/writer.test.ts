/** The batching writer. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import {
  BATCH_OPERATIONS_MAX,
  COMMITS_MAX,
  type Commit,
  FOLLOWING_OPERATIONS_MIN,
  LedgerWriter,
} from "../../src/ledger/writer.js";
import { holdOf, settleOf } from "./operations.js";

/** A database that grants every hold, and remembers the batches. */
function grantAll(): { commit: Commit; batches: (readonly LedgerOperation[])[] } {
  const batches: (readonly LedgerOperation[])[] = [];
  const commit: Commit = async (operations) => {
    batches.push(operations);
    await new Promise((resolve) => setImmediate(resolve));
    return operations.map((): LedgerResult => ({ kind: "held", amountNanos: 1n }));
  };
  return { commit, batches };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const holds = (count: number): LedgerOperation[] =>
  Array.from({ length: count }, (_, index) => holdOf({ requestId: `r${index}` }));

afterEach(() => {
  vi.useRealTimers();
});

describe("the writer", () => {
  test("writes a settlement that is waited for at once, with the hold that waits for company before it", async () => {
    const { commit, batches } = grantAll();
    const writer = new LedgerWriter(commit);
    // No patience ends while the clock stands: what is written now waited for no time.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [leased, settle, later] = [holdOf({ leaseId: "l1" }), settleOf(), holdOf({ requestId: "r2", leaseId: "l1" })];
    const patient = { committed: () => undefined, refused: () => undefined };
    writer.enqueueRelied(leased, patient, 0);
    writer.enqueue(settle, patient);
    await turns();
    expect(batches).toEqual([]);
    await new Promise<void>((committed) =>
      writer.enqueue(settleOf({ requestId: "r2" }), { ...patient, committed: () => committed() }, true),
    );
    expect(batches).toEqual([[leased, settle, settleOf({ requestId: "r2" })]]);
    // What comes behind it is patient again.
    writer.enqueueRelied(later, patient, 0);
    await turns();
    expect(batches).toHaveLength(1);
  });

  test("waits for nothing once all is written", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const writer = new LedgerWriter(grantAll().commit);
    await writer.submit(holdOf());
    await turns();
    expect([writer.waiting, vi.getTimerCount()]).toEqual([0, 0]);
  });

  test("commits together what one turn brings, in order", async () => {
    const { commit, batches } = grantAll();
    const writer = new LedgerWriter(commit);
    const operations = holds(FOLLOWING_OPERATIONS_MIN);
    await Promise.all(operations.map((operation) => writer.submit(operation)));
    expect(batches).toEqual([operations]);
  });

  test("makes two commits of what is enough for two, so that one is made while one is written", async () => {
    const { commit, batches } = grantAll();
    const writer = new LedgerWriter(commit);
    const operations = holds(2 * FOLLOWING_OPERATIONS_MIN);
    await Promise.all(operations.map((operation) => writer.submit(operation)));
    const [first, second] = [FOLLOWING_OPERATIONS_MIN, operations.length];
    expect(batches).toEqual([operations.slice(0, first), operations.slice(first, second)]);
  });

  test("sends no small commit behind one that runs", async () => {
    let release = (): void => undefined;
    const sizes: number[] = [];
    const writer = new LedgerWriter(async (operations) => {
      sizes.push(operations.length);
      if (sizes.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return operations.map((): LedgerResult => ({ kind: "held", amountNanos: 1n }));
    });
    const all = [writer.submit(holdOf())];
    await turns();
    all.push(...holds(FOLLOWING_OPERATIONS_MIN - 1).map((operation) => writer.submit(operation)));
    await turns();
    expect(sizes).toEqual([1]);
    all.push(writer.submit(holdOf()));
    await turns();
    expect(sizes).toEqual([1, FOLLOWING_OPERATIONS_MIN]);
    release();
    await Promise.all(all);
  });

  test("a flush waits for the commit before the last, whichever ends first", async () => {
    let release = (): void => undefined;
    let commits = 0;
    const writer = new LedgerWriter(async (operations) => {
      commits += 1;
      if (commits === 1) await new Promise<void>((resolve) => (release = resolve));
      return operations.map((): LedgerResult => ({ kind: "held", amountNanos: 1n }));
    });
    const all = holds(2 * FOLLOWING_OPERATIONS_MIN).map((operation) => writer.submit(operation));
    let isFlushed = false;
    const flushed = writer.flush().then(() => (isFlushed = true));
    await all.at(-1);
    expect(commits).toBe(2);
    expect(isFlushed).toBe(false);
    release();
    await flushed;
  });

  test("never commits more than a batch at once, nor more than two at a time", async () => {
    const { commit, batches } = grantAll();
    let running = 0;
    const writer = new LedgerWriter(async (operations) => {
      running += 1;
      expect(running).toBeLessThanOrEqual(COMMITS_MAX);
      const results = await commit(operations);
      running -= 1;
      return results;
    });
    const operations = holds(1000);
    await Promise.all(operations.map((operation) => writer.submit(operation)));
    expect(batches.flat()).toEqual(operations);
    expect(Math.max(...batches.map(({ length }) => length))).toBe(BATCH_OPERATIONS_MAX);
  });

  test("gathers the next batch while one is on its way", async () => {
    const { commit, batches } = grantAll();
    const writer = new LedgerWriter(commit);
    const first = writer.submit(holdOf());
    await new Promise((resolve) => setImmediate(resolve));
    const others = holds(5).map((operation) => writer.submit(operation));
    await Promise.all([first, ...others]);
    expect(batches.map(({ length }) => length)).toEqual([1, 5]);
  });

  test("refuses as overloaded what its queue does not hold", async () => {
    const writer = new LedgerWriter(grantAll().commit, 2);
    const results = await Promise.allSettled(holds(3).map((operation) => writer.submit(operation)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(results[2]).toMatchObject({ reason: { reason: "ERROR_REASON_OVERLOADED" } });
    await expect(writer.submit(holdOf())).resolves.toMatchObject({ kind: "held" });
  });

  test("keeps an operation that breaks the ledger from breaking the others of its batch", async () => {
    const { commit } = grantAll();
    const writer = new LedgerWriter(async (operations) => {
      const broken = operations.some((operation) => operation.kind === "hold" && operation.requestId === "r1");
      if (broken) throw new Error("an invariant is broken");
      return commit(operations);
    });
    const results = await Promise.allSettled(holds(3).map((operation) => writer.submit(operation)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { reason: "ERROR_REASON_INTERNAL" } });
  });

  test("tells all of a batch that the database is away, and goes on when it is back", async () => {
    const { commit, batches } = grantAll();
    let away = true;
    const writer = new LedgerWriter(async (operations) => {
      if (away) throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE");
      return commit(operations);
    });
    const refused = await Promise.allSettled(holds(3).map((operation) => writer.submit(operation)));
    expect(refused.every(({ status }) => status === "rejected")).toBe(true);
    away = false;
    await writer.submit(holdOf());
    expect(batches).toHaveLength(1);
  });
});
