/** The batching writer. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/errors.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import { BATCH_OPERATIONS_MAX, type Commit, LedgerWriter } from "../../src/ledger/writer.js";
import { holdOf } from "./operations.js";

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

const holds = (count: number): LedgerOperation[] =>
  Array.from({ length: count }, (_, index) => holdOf({ requestId: `r${index}` }));

describe("the writer", () => {
  test("commits together what one turn brings, in order", async () => {
    const { commit, batches } = grantAll();
    const writer = new LedgerWriter(commit);
    const operations = holds(50);
    await Promise.all(operations.map((operation) => writer.submit(operation)));
    expect(batches).toEqual([operations]);
  });

  test("never commits more than a batch at once, nor two batches at a time", async () => {
    const { commit, batches } = grantAll();
    let running = 0;
    const writer = new LedgerWriter(async (operations) => {
      running += 1;
      expect(running).toBe(1);
      const results = await commit(operations);
      running -= 1;
      return results;
    });
    const operations = holds(1000);
    await Promise.all(operations.map((operation) => writer.submit(operation)));
    expect(batches.flat()).toEqual(operations);
    expect(Math.max(...batches.map(({ length }) => length))).toBe(BATCH_OPERATIONS_MAX);
    expect(batches).toHaveLength(4);
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
