/** When a node stops to ask a slow Redis, and when it asks again: step by step, by a clock of the test's own. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Breaker, type Trouble } from "../../src/coordination/redis-breaker.js";
import { type Answer, RedisPipe } from "../../src/coordination/redis-pipe.js";

const SLOW_MS = 45;
const GIVE_UP_MS = 250;

/** How long Redis takes for what is sent now; Infinity: it never answers. */
let tookMs = 0;
let breaker: Breaker;
let changes: (Trouble | undefined)[];
let failures: unknown[];
let pipe: RedisPipe;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "performance"] });
  tookMs = 0;
  changes = [];
  failures = [];
  breaker = new Breaker((trouble) => changes.push(trouble));
  pipe = new RedisPipe({
    client: {
      status: "ready",
      call: () => new Promise((resolve) => tookMs < Infinity && setTimeout(() => resolve([1]), tookMs)),
    },
    breaker,
    monotonicMs: () => performance.now(),
    serverMs: () => 0,
    slowMs: SLOW_MS,
    giveUpMs: GIVE_UP_MS,
    onAnswer: () => undefined,
    onFailure: (error) => failures.push(error),
  });
});
afterEach(() => vi.useRealTimers());

/** Sends one command that takes so long, and says what its answer was and when it came. */
async function ask(ms: number): Promise<{ answer: Answer; atMs: number }> {
  tookMs = ms;
  const sinceMs = performance.now();
  const asked = new Promise<{ answer: Answer; atMs: number }>((resolve) =>
    pipe.send("", [], ["R"], (answer) => resolve({ answer, atMs: performance.now() - sinceMs })),
  );
  await vi.advanceTimersByTimeAsync(Math.min(ms, GIVE_UP_MS) + 2);
  return asked;
}

async function askEach(...all: readonly number[]): Promise<void> {
  for (const ms of all) await ask(ms);
}

describe("a closed breaker", () => {
  test.each([
    { all: [50, 50], want: undefined },
    { all: [50, 50, 50], want: "slow" },
    { all: [50, 50, 1, 50, 50], want: undefined },
    { all: [50, 50, 1, 50, 50, 50], want: "slow" },
    { all: [44, 44, 44, 44], want: undefined },
    { all: [Infinity], want: "unreachable" },
    { all: [50, 50, Infinity], want: "slow" },
  ])("after answers of $all ms is $want", async ({ all, want }) => {
    await askEach(...all);
    expect(breaker.trouble).toBe(want);
  });

  test("what is late is waited for, and given up after 250 ms", async () => {
    expect(await ask(240)).toMatchObject({ answer: 1, atMs: 240 });
    expect(failures).toEqual([]);
    const lost = await ask(Infinity);
    expect(lost.answer).toBeUndefined();
    // Two turns of the event loop, a millisecond each by this clock, are for an answer that is there already.
    expect([0, 1, 2]).toContain(lost.atMs - GIVE_UP_MS);
    expect(failures).toHaveLength(1);
  });

  test("of all that waits while Redis pauses once, one is evidence", async () => {
    const answers: Answer[] = [];
    for (let sent = 0; sent < 10; sent += 1) {
      tookMs = 100 - sent;
      pipe.send("", [], ["R"], (answer) => answers.push(answer));
      await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(200);
    expect(answers).toEqual(Array<Answer>(10).fill(1));
    expect(breaker.trouble).toBeUndefined();
    await askEach(50);
    expect(breaker.trouble).toBeUndefined();
    await askEach(50);
    expect(breaker.trouble).toBe("slow");
  });

  test("what this process reads late, but was there in time, is no evidence", async () => {
    let now = 0;
    const late = new RedisPipe({
      client: { status: "ready", call: () => Promise.resolve([1]) },
      breaker,
      // The process was busy between its question and its reading.
      monotonicMs: () => (now += 60),
      serverMs: () => 0,
      slowMs: SLOW_MS,
      giveUpMs: GIVE_UP_MS,
      onAnswer: () => undefined,
      onFailure: () => undefined,
    });
    await askEach(50, 50);
    for (let count = 0; count < 5; count += 1) {
      late.send("", [], ["R"], () => undefined);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(breaker.trouble).toBeUndefined();
    // Nor did it make what was slow quick.
    await askEach(50);
    expect(breaker.trouble).toBe("slow");
  });
});

describe("an open breaker", () => {
  beforeEach(() => askEach(50, 50, 50));

  test.each([
    { all: [1, 1], want: "slow" },
    { all: [1, 1, 1], want: undefined },
    { all: [1, 1, 50, 1, 1], want: "slow" },
    { all: [1, 1, 50, 1, 1, 1], want: undefined },
    { all: [1, 1, Infinity, 1, 1], want: "slow" },
    { all: [50, 50, 50, 50], want: "slow" },
  ])("after probes of $all ms is $want", async ({ all, want }) => {
    await askEach(...all);
    expect(breaker.trouble).toBe(want);
    expect(changes).toEqual(want === undefined ? ["slow", undefined] : ["slow"]);
  });

  test("is not closed by what was sent before it opened, however quick", async () => {
    await askEach(1, 1, 1);
    expect(breaker.trouble).toBeUndefined();
    const answers: Answer[] = [];
    tookMs = Infinity;
    pipe.send("", [], ["R"], () => undefined);
    await vi.advanceTimersByTimeAsync(GIVE_UP_MS - 20);
    tookMs = 30;
    for (let sent = 0; sent < 5; sent += 1) {
      pipe.send("", [], ["R"], (answer) => answers.push(answer));
      await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(answers).toEqual(Array<Answer>(5).fill(1));
    expect(breaker.trouble).toBe("unreachable");
  });
});

test("a failure of what was sent before the breaker closed does not open it again", () => {
  const states: (Trouble | undefined)[] = [];
  const only = new Breaker((trouble) => states.push(trouble));
  const [lost, failed] = [only.sent(), only.sent()];
  only.failed(failed);
  for (let probe = 0; probe < 3; probe += 1) only.quick(only.sent());
  only.failed(lost);
  expect(states).toEqual(["unreachable", undefined]);
  only.failed(only.sent());
  expect(states).toEqual(["unreachable", undefined, "unreachable"]);
});
