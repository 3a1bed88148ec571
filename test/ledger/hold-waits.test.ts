/** Requests that wait for their hold, on a database that answers when the test says. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HoldWaits } from "../../src/ledger/hold-waits.js";
import { LiveHolds } from "../../src/ledger/live-holds.js";
import type { HoldOperation, LedgerResult } from "../../src/ledger/operation.js";
import { type Commit, LedgerWriter } from "../../src/ledger/writer.js";
import { holdOf } from "./operations.js";

const HELD: LedgerResult = { kind: "held", amountNanos: 1n };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A commit that ends when it is told how. */
function slowDatabase(): { commit: Commit; answer: (result: LedgerResult) => void } {
  const waiting: ((result: LedgerResult) => void)[] = [];
  return {
    commit: (operations) =>
      new Promise((resolve) => void waiting.push((result) => resolve(operations.map(() => result)))),
    answer: (result) => waiting.shift()?.(result),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each([
  { name: "a grant in time is answered", waitMs: 9_000, result: HELD, want: HELD, freed: [] },
  {
    name: "a grant after ten seconds comes too late, and is freed",
    waitMs: 12_000,
    result: HELD,
    want: "ERROR_REASON_LEDGER_UNAVAILABLE",
    freed: ["r1"],
  },
  {
    name: "a refusal that comes too late leaves nothing to free",
    waitMs: 12_000,
    result: { kind: "refused", problem: "unknown_account" } as const,
    want: "ERROR_REASON_LEDGER_UNAVAILABLE",
    freed: [],
  },
])("$name", async ({ waitMs, result, want, freed }) => {
  const database = slowDatabase();
  const late: string[] = [];
  const live = new LiveHolds();
  const waits = new HoldWaits(new LedgerWriter(database.commit), live, (requestId) => late.push(requestId));
  const hold: HoldOperation = holdOf({ requestId: "r1" });
  const answer = waits
    .submit(hold, { requestId: "r1", endMs: 0, isSettling: false })
    .catch((error: unknown) => Reflect.get(Object(error), "reason"));
  await turn();
  vi.advanceTimersByTime(waitMs);
  database.answer(result);
  expect(await answer).toEqual(want);
  await turn();
  expect(late).toEqual(freed);
  // Whoever was granted money answers for it until it is settled, late or not.
  expect(live.size).toBe(result.kind === "held" ? 1 : 0);
  expect(live.doubted()).toBeUndefined();
  vi.advanceTimersByTime(2_000);
  expect(vi.getTimerCount()).toBe(0);
});
