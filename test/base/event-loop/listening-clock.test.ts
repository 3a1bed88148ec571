/** The clock by which others are waited for: it stands while the event loop is held, on a clock of the test's own. */
import { beforeEach, expect, test, vi } from "vitest";
import { ListeningClock } from "../../../src/base/event-loop/listening-clock.js";

let monotonicMs: number;
let clock: ListeningClock;

beforeEach(() => {
  monotonicMs = 50_000;
  clock = new ListeningClock(() => monotonicMs);
});

/** A timer that was due at one moment runs at another. */
function runs(dueMs: number, atMs: number): boolean {
  monotonicMs = atMs;
  return clock.ran(dueMs);
}

test("without a stall it is the monotonic clock, whatever timers are a little late", () => {
  for (let atMs = 51_000; atMs < 60_000; atMs += 1_000) expect(runs(atMs - 900, atMs)).toBe(false);
  expect([clock.nowMs(), clock.at(55_000), clock.stalledMs]).toEqual([59_000, 55_000, 0]);
});

test("a stall does not count, nor the second after it in which others are read", () => {
  runs(51_000, 51_000);
  expect(runs(52_000, 91_000)).toBe(true);
  expect(clock.nowMs()).toBe(50_000);
  monotonicMs = 93_000;
  expect(clock.nowMs()).toBe(52_000);
});

test("many timers tell of one stall, and it counts once", () => {
  runs(51_000, 51_000);
  for (const dueMs of [52_000, 60_000, 90_900, 52_000]) runs(dueMs, 91_000);
  expect(clock.stalledMs).toBe(41_000);
});

test("of a stall without another timer before it no more is taken than a second before the timer was due", () => {
  expect(runs(70_000, 71_000)).toBe(true);
  expect(clock.stalledMs).toBe(3_000);
});

test("however many stalls follow each other, it stands, and does not go back", () => {
  runs(51_000, 51_000);
  runs(51_500, 61_000);
  const shownMs = clock.nowMs();
  for (let atMs = 63_000; atMs < 200_000; atMs += 2_000) runs(atMs - 1_900, atMs);
  expect(clock.nowMs()).toBeGreaterThanOrEqual(shownMs);
  expect(clock.nowMs()).toBeLessThan(shownMs + 1_000);
});

test("where every other second is lost it goes on, so that whoever sends nothing is left in the end", () => {
  runs(51_000, 51_000);
  for (let atMs = 52_000; atMs < 252_000; atMs += 2_000) {
    runs(atMs, atMs);
    runs(atMs, atMs + 1_000);
  }
  expect(clock.nowMs()).toBeGreaterThan(51_000 + 40_000);
});

test("a timer of it waits as long as it stood, and one that was cancelled does not ring", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    vi.advanceTimersByTime(10_000);
    const own = new ListeningClock(() => performance.now());
    const rung: string[] = [];
    own.after(1_000, () => rung.push("first")).unref();
    own.after(1_500, () => rung.push("cancelled")).cancel();
    vi.advanceTimersByTime(500);
    // As behind a stall of which another timer told.
    own.ran(performance.now() - 2_000);
    vi.advanceTimersByTime(3_000);
    expect(rung).toEqual([]);
    vi.advanceTimersByTime(1_500);
    expect(rung).toEqual(["first"]);
  } finally {
    vi.useRealTimers();
  }
});
