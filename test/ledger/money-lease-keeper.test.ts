/** When a node asks for leases of money and gives them back, on timers that the test moves. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MoneyLeaseKeeper, type MoneyLeaseKeeperOptions } from "../../src/ledger/money-lease-keeper.js";
import type { Draw } from "../../src/ledger/node-leases.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";
import { LedgerWriter } from "../../src/ledger/writer.js";
import { NOON_MS } from "./operations.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GRANT: LedgerResult = { kind: "leased", amountNanos: 100n, requestCostMaxNanos: 0n };
const REFUSAL: LedgerResult = { kind: "lease_refused" };

interface Kept {
  readonly keeper: MoneyLeaseKeeper;
  /** The kinds of the operations that the database took. */
  readonly kinds: () => string[];
  /** How the database answers each kind. */
  readonly answers: Map<LedgerOperation["kind"], LedgerResult>;
  /** Draws on a lease of the key, as a request does. */
  draw(given?: Partial<Draw>): boolean;
  /** Lets time pass for the keeper and its timers. */
  pass(ms: number): Promise<void>;
}

function keep(options: Partial<MoneyLeaseKeeperOptions> = {}): Kept {
  const taken: LedgerOperation[] = [];
  const answers: Kept["answers"] = new Map<LedgerOperation["kind"], LedgerResult>([["lease", GRANT]]);
  const writer = new LedgerWriter(async (operations) => {
    taken.push(...operations);
    return operations.map(({ kind }) => answers.get(kind) ?? { kind: "returned", amountNanos: 0n });
  });
  let monotonicMs = 0;
  const dayMs = (): number => NOON_MS + monotonicMs;
  const clocks = { nowMs: dayMs, machineMs: dayMs, monotonicMs: () => monotonicMs };
  const keeper = new MoneyLeaseKeeper({ writer, nodeId: () => "node_1", ...clocks, leaseNanosMax: 1_000n, ...options });
  const beat = (): void => keeper.beaten({ wallMs: NOON_MS + monotonicMs, monotonicMs });
  beat();
  return {
    keeper,
    answers,
    kinds: () => taken.map(({ kind }) => kind),
    draw: (given = {}) => {
      const draw = { accountId: "acme", keyId: "key_1", amountNanos: 10n, budgets: [], ...given };
      return keeper.draw(draw, NOON_MS + monotonicMs, monotonicMs, true) !== undefined;
    },
    pass: async (ms) => {
      for (let left = ms; left > 0; left -= 50) {
        monotonicMs += Math.min(left, 50);
        beat();
        await vi.advanceTimersByTimeAsync(Math.min(left, 50));
      }
    },
  };
}

describe("a lease", () => {
  test("is asked for at a key's second request, and goes back once it is idle; and so once more", async () => {
    const { keeper, kinds, draw, pass } = keep();
    for (let turn = 1; turn <= 2; turn += 1) {
      expect([draw(), draw()]).toEqual([false, false]);
      await pass(50);
      expect([draw(), keeper.held]).toEqual([true, { count: 1, restNanos: 90n }]);
      await pass(3_900);
      expect(keeper.held.count).toBe(1);
      await pass(400);
      expect(keeper.held).toEqual({ count: 0, restNanos: 0n });
      // Nothing is left that would be looked at.
      await pass(4_000);
      expect(vi.getTimerCount()).toBe(0);
      expect(kinds()).toHaveLength(2 * turn);
    }
    expect(kinds()).toEqual(["lease", "return", "lease", "return"]);
  });

  test("that is refused is asked for again after a second, however often requests come", async () => {
    const { answers, kinds, draw, pass } = keep();
    answers.set("lease", REFUSAL);
    for (let turn = 0; turn < 19; turn += 1) {
      draw();
      await pass(50);
    }
    expect(kinds()).toEqual(["lease"]);
    await pass(150);
    draw();
    await pass(50);
    expect(kinds()).toEqual(["lease", "lease"]);
  });

  test("that is asked back goes back at the next look, and none is looked for where there is none", async () => {
    const asked: string[] = [];
    const back: string[] = [];
    const recalled = async (nodeId: string): Promise<readonly string[]> => {
      asked.push(nodeId);
      return back;
    };
    const { keeper, kinds, draw, pass } = keep({ recalled });
    draw();
    await pass(1_000);
    expect(asked).toEqual([]);
    draw();
    await pass(500);
    expect(new Set(asked)).toEqual(new Set(["node_1"]));
    back.push("node_1.1");
    await pass(250);
    expect(keeper.held.count).toBe(0);
    expect(kinds()).toEqual(["lease", "return"]);
    const count = asked.length;
    await pass(1_000);
    expect(asked).toHaveLength(count);
  });
});

describe("a change of an account", () => {
  const others: LedgerResult = { kind: "recalled", leases: [{ leaseId: "far", nodeId: "node_2" }] };

  test("is pending until a lease that nobody gave back has lapsed, and not a moment longer", async () => {
    const { keeper, answers, pass } = keep();
    answers.set("recall", others);
    const recalled = keeper.recall("acme");
    await pass(2_000);
    await recalled;
    expect([keeper.isPending("acme"), keeper.isPending("other")]).toEqual([true, false]);
    // Two silences of 15 s, of which some hundred milliseconds of the recall are over.
    await pass(28_000);
    expect(keeper.isPending("acme")).toBe(true);
    await pass(2_000);
    expect(keeper.isPending("acme")).toBe(false);
  });

  test("is pending for no moment at which it is over", async () => {
    let monotonicMs = 0;
    const { keeper, answers, pass } = keep({ monotonicMs: () => monotonicMs });
    answers.set("recall", others);
    const recalled = keeper.recall("acme");
    await pass(2_000);
    await recalled;
    monotonicMs = 29_999;
    expect(keeper.isPending("acme")).toBe(true);
    monotonicMs = 30_000;
    expect(keeper.isPending("acme")).toBe(false);
  });

  test("is not pending where no other node has a lease of it", async () => {
    const { keeper, answers, kinds } = keep();
    answers.set("recall", { kind: "recalled", leases: [{ leaseId: "node_1.1", nodeId: "node_1" }] });
    const recalled = keeper.recall("acme");
    await vi.advanceTimersByTimeAsync(100);
    await recalled;
    expect(keeper.isPending("acme")).toBe(false);
    expect(kinds()).toEqual(["recall"]);
  });
});
