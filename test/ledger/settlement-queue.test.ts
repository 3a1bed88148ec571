/** A settlement on its way: who is told of it, for what it waits, and how often it is tried. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { Journal } from "../../src/ledger/journal.js";
import { OpenHold, OPERATOR_COST_NANOS_MAX, OVERAGE_NANOS_MAX } from "../../src/ledger/hold.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import { Settlements, type SettlementsOptions } from "../../src/ledger/settlement-queue.js";
import { LedgerWriter } from "../../src/ledger/writer.js";
import { holdOf, NOON_MS, settleOf } from "./operations.js";
import { settlement } from "./bench.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const SETTLED: LedgerResult = { kind: "settled", chargedNanos: 4n, overageNanos: 0n, repeated: false };
const { accountId, keyId, model, nodeId, price, amountNanos, expireTimeMs, budgets } = holdOf();
const TERMS = { accountId, keyId, model, nodeId, price, amountNanos, expireTimeMs, budgets, createTimeMs: NOON_MS };

function queue(options: Partial<SettlementsOptions> = {}) {
  const tries: LedgerOperation[] = [];
  const told: string[] = [];
  const database = { isAway: false, result: SETTLED };
  const writer = new LedgerWriter(async (operations) => {
    tries.push(...operations);
    if (database.isAway) throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE");
    return operations.map(() => database.result);
  });
  const settlements = new Settlements({
    writer,
    log: { error: () => undefined, warn: () => undefined },
    onOverage: (requestId, ...nanos) => void told.push(`overage ${requestId} ${nanos.join(" ")}`),
    onWaiting: () => undefined,
    onLost: ({ requestId }) => void told.push(`lost ${requestId}`),
    onLate: (requestId, nanos) => void told.push(`late ${requestId} ${nanos}`),
    onEnded: (requestId) => void told.push(`ended ${requestId}`),
    ...options,
  });
  return { settlements, writer, database, tries, told };
}

const inTime = { lateTerms: undefined };
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
/** What a promise resolved with by now, in a list. */
async function outcomeOf<Value>(promise: Promise<Value>): Promise<Value[]> {
  const outcomes: Value[] = [];
  void promise.then((value) => outcomes.push(value));
  await pass(50);
  return outcomes;
}

describe("who is told of a settlement", () => {
  test.each([
    { name: "of a hold", operation: settleOf(), result: SETTLED, want: ["ended r1"] },
    {
      name: "whose hold was lost on its way",
      operation: settleOf({ terms: TERMS }),
      result: { ...SETTLED, overageNanos: 2n, chargedNanos: 2n },
      want: ["ended r1", "late r1 2", "overage r1 2 0"],
    },
    {
      name: "that was made before",
      operation: settleOf({ terms: TERMS }),
      result: { ...SETTLED, repeated: true },
      want: ["ended r1"],
    },
    {
      name: "that the ledger refuses",
      operation: settleOf(),
      result: { kind: "refused", problem: "id_taken" } as const,
      want: ["ended r1", "lost r1"],
    },
  ])("$name: $want", async ({ operation, result, want }) => {
    const { settlements, database, told } = queue();
    database.result = result;
    const { chargedNanos, overageNanos } = { chargedNanos: 0n, overageNanos: 0n, ...result };
    expect(await outcomeOf(settlements.settle(operation, inTime, true))).toEqual([
      result.kind === "settled" ? { chargedNanos, overageNanos } : undefined,
    ]);
    expect(told).toEqual(want);
    expect(settlements.open).toBe(0);
  });
});

describe("while the database does not answer", () => {
  test.each([
    { name: "waits for the journal, which has it", takes: true, want: [undefined] },
    { name: "waits for the database, where the journal did not take it", takes: false, want: [] },
  ])("who settles $name", async ({ takes, want }) => {
    const append = async (): Promise<void> => {
      if (!takes) throw new Error("ENOSPC");
    };
    const journal = new Journal({
      file: { hasRoom: true, lines: 0, append, clear: () => undefined },
      epoch: () => "node_1",
      isAway: () => true,
      onError: () => undefined,
      onUse: () => undefined,
    });
    const silent = new LedgerWriter(() => new Promise(() => undefined));
    const { settlements } = queue({ journal, writer: silent });
    expect(await outcomeOf(settlements.settle(settleOf(), inTime, true))).toEqual(want);
    expect(settlements.open).toBe(1);
  });

  test.each([true, false])(
    "what it does not take is noted before anybody hears of it, awaited or not: %s",
    async (isAwaited) => {
      const noted: string[] = [];
      let written: Promise<void> | undefined;
      let write = (): void => undefined;
      const intents = {
        found: [],
        keep: (requestId: string) => {
          noted.push(requestId);
          written ??= new Promise((resolve) => (write = resolve));
        },
        get written() {
          return written;
        },
        ended: (requestId: string) => void noted.splice(noted.indexOf(requestId), 1),
        forget: () => undefined,
      };
      const { settlements, database } = queue({ intents });
      database.isAway = true;
      const outcome = settlements.settle(settleOf(), { lateTerms: TERMS }, isAwaited);
      const before = await outcomeOf(outcome);
      expect([noted, before]).toEqual([["r1"], isAwaited ? [] : before]);
      written = undefined;
      write();
      expect(await outcomeOf(outcome)).toEqual([undefined]);
      database.isAway = false;
      await pass(2_000);
      expect([settlements.open, noted]).toEqual([0, []]);
    },
  );

  test("it is tried less and less often, and as often as at first once it was there", async () => {
    const { settlements, database, tries } = queue({ retryMsMax: 1_000 });
    const settle = async (requestId: string): Promise<number[]> => {
      database.isAway = true;
      void settlements.settle(settleOf({ requestId }), inTime, true);
      const times: number[] = [];
      for (let ms = 0; ms <= 4_000; ms += 10) {
        const count = tries.length;
        await pass(10);
        if (tries.length > count) times.push(ms);
      }
      database.isAway = false;
      await pass(2_000);
      expect(settlements.open).toBe(0);
      return times.slice(1, 6).map((time, index) => Math.round((time - (times[index] ?? 0)) / 100) * 100);
    };
    expect(await settle("r1")).toEqual([100, 200, 400, 800, 1_000]);
    expect(await settle("r2")).toEqual([100, 200, 400, 800, 1_000]);
  });
});

describe("a hold that was admitted before it was durable", () => {
  function admitted() {
    const { settlements, writer, tries } = queue();
    const kept: unknown[] = [];
    const leases = { keep: (hold: unknown) => void kept.push(hold), giveBackOf: () => undefined };
    const clocks = { nowMs: () => NOON_MS, monotonicMs: () => 0 };
    const steps = { writer, settlements, leases, journal: undefined, ...clocks };
    const hold = new OpenHold("r1", "acme", 1_000, steps, 0).admit(holdOf({ leaseId: "l1" }), 0);
    return { hold, tries, kept };
  }
  const sent = (tries: readonly LedgerOperation[]): string[] => tries.map(({ kind }) => kind);

  test("is sent again where the database did not take it", async () => {
    const { hold, tries, kept } = admitted();
    hold.refused();
    expect(kept).toEqual([hold]);
    hold.sendAgain();
    await pass(50);
    expect(sent(tries)).toEqual(["hold", "hold"]);
  });

  test("is not sent again once it is durable, nor once its request is settled", async () => {
    const durable = admitted();
    durable.hold.committed({ kind: "held", amountNanos: 10n });
    durable.hold.sendAgain();
    const settled = admitted();
    void settled.hold.settle(settlement(4n), true);
    settled.hold.refused();
    settled.hold.sendAgain();
    await pass(50);
    expect([sent(durable.tries), sent(settled.tries)]).toEqual([["hold"], ["hold", "settle"]]);
    expect(settled.kept).toEqual([]);
  });

  test("costs its operator 10,000 USD at most, and as much above the hold", () => {
    expect([OPERATOR_COST_NANOS_MAX, OVERAGE_NANOS_MAX]).toEqual([10_000_000_000_000n, 10_000_000_000_000n]);
  });
});
