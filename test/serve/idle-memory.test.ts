/** When an idle process collects what its work left, and that it does. */
import { describe, expect, test } from "vitest";
import { collectGarbage, IdleMemory } from "../../src/serve/idle-memory.js";

/** Each second's CPU time in milliseconds; returns the seconds after which it collected. */
function collectedAfter(usedMs: readonly number[]): number[] {
  let cpuMs = 700;
  let second = 0;
  const collected: number[] = [];
  const memory = new IdleMemory({ cpuMs: () => cpuMs, collect: () => void collected.push(second) });
  for (const used of usedMs) {
    cpuMs += used;
    second += 1;
    memory.tick();
  }
  return collected;
}

const seconds = (count: number, usedMs: number): number[] => Array.from({ length: count }, () => usedMs);

describe("an idle process collects what its work left", () => {
  test.each([
    { why: "once after the start, and not again", used: seconds(500, 0), want: [1] },
    { why: "not while the first calls are served", used: [...seconds(5, 400), ...seconds(500, 2)], want: [6] },
    { why: "after a minute where it had worked", used: [0, ...seconds(10, 900), ...seconds(200, 5)], want: [1, 71] },
    { why: "not for what a probe or a timer takes", used: [0, 200, 300, ...seconds(200, 0)], want: [1] },
    {
      why: "not in the pauses of its work",
      used: [0, ...seconds(600, 0).map((_, second) => (second % 31 === 0 ? 900 : 0))],
      want: [1],
    },
  ])("$why", ({ used, want }) => {
    expect(collectedAfter(used)).toEqual(want);
  });

  test("what nothing holds any more is gone after it", async () => {
    const left = new WeakRef({ bytes: seconds(1000, 0) });
    // A WeakRef holds its object until the end of the turn that made it.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise<void>((resolve) => collectGarbage(resolve));
    expect(left.deref()).toBeUndefined();
  });
});
