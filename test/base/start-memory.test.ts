/** What a start left in memory is given back, and nobody waits for that. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectAll, whenIdle } from "../../src/base/start-memory.js";

test("what nothing holds any more is gone after it, however often it is asked for", async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    const left = new WeakRef({ bytes: Array.from({ length: 1000 }, () => 0) });
    // A WeakRef holds its object until the end of the turn that made it.
    await new Promise((resolve) => setImmediate(resolve));
    await collectAll();
    expect(left.deref()).toBeUndefined();
  }
});

test("a thread that works is left alone, and once it is idle it is called once", async () => {
  const lookMs = 20;
  let calls = 0;
  whenIdle(() => (calls += 1), lookMs);
  const looks: number[] = [];
  const looking = setInterval(() => looks.push(calls), lookMs);
  // A loop that always has a next turn is never idle, however slow the machine is.
  while (looks.length < 10) await nextTurn();
  expect(calls).toBe(0);
  await expect.poll(() => calls, { timeout: 60_000, interval: 200 }).toBe(1);
  const before = looks.length;
  await expect.poll(() => looks.length - before, { timeout: 60_000, interval: 200 }).toBeGreaterThan(10);
  clearInterval(looking);
  expect(calls).toBe(1);
});
