/** What the operator spends at an upstream: two processes add it up in one database, by UTC day or month. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type OperatorCost, StoredSpending } from "../../src/routing/stored-spending.js";

const START_MS = Date.UTC(2026, 10, 30, 23, 0);
const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

/** A database, and a time of day that stands still. */
class World {
  nowMs = START_MS;
  isAway = false;
  readonly sums = new Map<string, bigint>();
  errors = 0;

  process(): StoredSpending {
    return new StoredSpending({ store: this, nowMs: () => this.nowMs, onError: () => void (this.errors += 1) });
  }

  addOperatorCosts(costs: readonly OperatorCost[]): Promise<OperatorCost[]> {
    if (this.isAway) return Promise.reject(new Error("the database is away"));
    return Promise.resolve(
      costs.map(({ subject, bucket, costNanos }) => {
        const name = `${subject} ${bucket}`;
        const sum = (this.sums.get(name) ?? 0n) + costNanos;
        this.sums.set(name, sum);
        return { subject, bucket, costNanos: sum };
      }),
    );
  }
}

const budgetOf = (period: "day" | "month") => ({ subject: "upstream one", budget: { amountNanos: 10n, period } });

test.each([
  { period: "day" as const, bucket: "2026-11-30", next: "2026-12-01" },
  { period: "month" as const, bucket: "2026-11", next: "2026-12" },
])("both processes stop within a second once the $period is spent, and go on in the next one", async (row) => {
  const { period, bucket, next } = row;
  const world = new World();
  const [one, two] = [world.process(), world.process()];
  const budget = budgetOf(period);
  expect([await one.waitMs(budget), await two.waitMs(budget)]).toEqual([0, 0]);
  one.add(budget, 6n);
  two.add(budget, 5n);
  expect([one.waitMs(budget), two.waitMs(budget)]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(world.sums.get(`upstream one ${bucket}`)).toBe(11n);
  expect([one.waitMs(budget), two.waitMs(budget)]).toEqual([HOUR_MS, HOUR_MS]);
  expect(await world.process().waitMs(budget)).toBe(HOUR_MS);
  one.add(budget, 1n);
  world.nowMs += HOUR_MS;
  expect(await one.waitMs(budget)).toBe(0);
  expect([...world.sums]).toEqual([
    [`upstream one ${bucket}`, 12n],
    [`upstream one ${next}`, 0n],
  ]);
  await Promise.all([one.close(), two.close()]);
});

test("what could not be written is written later, and counts until then", async () => {
  const world = new World();
  const one = world.process();
  const budget = budgetOf("day");
  expect(await one.waitMs(budget)).toBe(0);
  world.isAway = true;
  one.add(budget, 10n);
  await one.flush();
  expect([world.errors, one.waitMs(budget)]).toEqual([1, HOUR_MS]);
  world.isAway = false;
  await one.close();
  expect([...world.sums.values()]).toEqual([10n]);
});
