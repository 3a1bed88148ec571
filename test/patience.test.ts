/** How long tests wait: at least ten times what is usual, so that none fails because other work runs beside it. */
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { PROJECTS } from "../vitest.config.js";
import { parseSource, readSources } from "./support/source-file.js";
import { longWaits, namedPauses, TEST_LEAST_MS, WAIT_LEAST_MS } from "./support/waiting.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const sources = readSources(ROOT, "test");

test("what is polled for, and each test and hook, has its time by default", () => {
  expect(PROJECTS.length).toBeGreaterThan(1);
  for (const {
    testTimeout,
    hookTimeout,
    expect: { poll },
  } of PROJECTS) {
    expect(testTimeout).toBeGreaterThanOrEqual(TEST_LEAST_MS);
    expect(hookTimeout).toBeGreaterThanOrEqual(TEST_LEAST_MS);
    expect(poll.timeout).toBeGreaterThanOrEqual(WAIT_LEAST_MS);
  }
});

test("no wait has less time than that", () => {
  expect(sources.flatMap(longWaits)).toEqual([]);
});

test("time is let pass for a reason that has a name", () => {
  expect(sources.flatMap(namedPauses)).toEqual([]);
});

// A check that finds nothing proves something only where it would have found it.
describe("a breach is found:", () => {
  test.each([
    { name: "a poll", check: longWaits, text: "expect.poll(f, { timeout: 5_000 }).toBe(1);", want: 1 },
    { name: "a wait of Vitest's", check: longWaits, text: "vi.waitFor(f, { timeout: 1000, interval: 5 });", want: 1 },
    { name: "one by its number", check: longWaits, text: "vi.waitFor(() => f(1), 10_000);", want: 1 },
    { name: "one that names no time", check: longWaits, text: "vi.waitUntil(() => f());", want: 1 },
    { name: "what a file gives to all", check: longWaits, text: "const W = { timeout: a ? 60_000 : 5_000 };", want: 1 },
    { name: "a signal", check: longWaits, text: "fetch(url, { signal: AbortSignal.timeout(30_000) });", want: 1 },
    { name: "a test", check: longWaits, text: 'test.each([1])("x", async () => { await f(); }, 60_000);', want: 1 },
    {
      name: "a long test",
      check: longWaits,
      text: 'test("x", { timeout: 300_000 }, f); beforeAll(f, 180_000);',
      want: 0,
    },
    { name: "a long wait", check: longWaits, text: "vi.waitFor(f, WAIT); expect.poll(f, { interval: 5 });", want: 0 },
    { name: "a pause", check: namedPauses, text: "await new Promise((resolve) => setTimeout(resolve, 9));", want: 1 },
    { name: "a sleep", check: namedPauses, text: 'import { setTimeout as s } from "node:timers/promises";', want: 1 },
    { name: "a turn", check: namedPauses, text: 'import { setImmediate } from "node:timers/promises";', want: 0 },
    { name: "a pause with a name", check: namedPauses, text: "await pace(20); setTimeout(f, 20);", want: 0 },
  ])("$name", ({ check, text, want }) => {
    expect(check(parseSource("test/sample.test.ts", text))).toHaveLength(want);
  });
});
