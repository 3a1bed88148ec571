/** The windows of one node: they never hold too much, and say exactly when they have room. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { admit, admitted, clock, coordination, freshForEachTest, refused, START_MS } from "./node-world.js";

freshForEachTest();

describe("a window", () => {
  test("of 60,000 arrivals never holds more than its limits in any 60 seconds", () => {
    const gap = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 200 }) },
      { weight: 2, arbitrary: fc.integer({ min: 200, max: 3_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: 58_000, max: 63_000 }) },
    );
    const arrivals = fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 60 })), { minLength: 2_000, maxLength: 2_000 });
    const limits = fc.record({
      requestsPerMinute: fc.integer({ min: 1, max: 400 }),
      tokensPerMinute: fc.integer({ min: 60, max: 9_000 }),
    });
    let simulated = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), arrivals, limits, (offsetMs, arrivals, limits) => {
        clock.nowMs += 200_000 + offsetMs;
        const taken: { atMs: number; tokens: number }[] = [];
        for (const [gapMs, tokens] of arrivals) {
          clock.nowMs += gapMs;
          simulated += 1;
          if (admit(limits, { tokens }).admitted) taken.push({ atMs: clock.nowMs, tokens });
        }
        expect(mostInAnyMinute(taken, () => 1)).toBeLessThanOrEqual(limits.requestsPerMinute);
        expect(mostInAnyMinute(taken, (one) => one.tokens)).toBeLessThanOrEqual(limits.tokensPerMinute);
        expect(taken.length).toBeGreaterThan(0);
      }),
      { numRuns: 30 },
    );
    expect(simulated).toBeGreaterThanOrEqual(60_000);
  });

  test("refuses for exactly as long as it says", () => {
    const gap = fc.integer({ min: 0, max: 9_000 });
    fc.assert(
      fc.property(fc.array(gap, { minLength: 5, maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (gaps, limit) => {
        clock.nowMs += 200_000;
        for (const gapMs of gaps) {
          clock.nowMs += gapMs;
          const result = admit({ requestsPerMinute: limit });
          if (result.admitted) continue;
          clock.nowMs += result.retryAfterMs - 1;
          expect(admit({ requestsPerMinute: limit }).admitted).toBe(false);
          clock.nowMs += 1;
          expect(admit({ requestsPerMinute: limit }).admitted).toBe(true);
        }
      }),
    );
  });

  test("costs at most a second of waiting beyond the minute", () => {
    clock.nowMs = START_MS + 999;
    admitted(admit({ requestsPerMinute: 1 }));
    expect(refused(admit({ requestsPerMinute: 1 })).retryAfterMs).toBe(60_001);
    clock.nowMs = START_MS + 60_999;
    expect(refused(admit({ requestsPerMinute: 1 })).retryAfterMs).toBe(1);
    clock.nowMs = START_MS + 61_000;
    admitted(admit({ requestsPerMinute: 1 }));
  });

  test("says what remains and when all of it is free", () => {
    expect(admitted(admit({ requestsPerMinute: 3, tokensPerMinute: 100 }, { tokens: 40 }))).toEqual({
      admitted: true,
      admittedAtMs: START_MS,
      requests: { limit: 3, remaining: 2, resetMs: 61_000 },
      tokens: { limit: 100, remaining: 60, resetMs: 61_000 },
    });
    clock.nowMs += 2_500;
    expect(refused(admit({ requestsPerMinute: 3, tokensPerMinute: 100 }, { tokens: 61 }))).toEqual({
      admitted: false,
      subject: "key_1",
      limit: "tokens_per_minute",
      limitValue: 100,
      remaining: 60,
      retryAfterMs: 58_500,
      requests: { limit: 3, remaining: 2, resetMs: 58_500 },
      tokens: { limit: 100, remaining: 60, resetMs: 58_500 },
    });
  });

  test("waits for as many old tokens as it needs, and no more", () => {
    for (const tokens of [10, 20, 30]) {
      admitted(admit({ tokensPerMinute: 60 }, { tokens }));
      clock.nowMs += 1_000;
    }
    expect(refused(admit({ tokensPerMinute: 60 }, { tokens: 10 })).retryAfterMs).toBe(58_000);
    expect(refused(admit({ tokensPerMinute: 60 }, { tokens: 11 })).retryAfterMs).toBe(59_000);
    expect(refused(admit({ tokensPerMinute: 60 }, { tokens: 31 })).retryAfterMs).toBe(60_000);
  });

  test("refuses what is above the whole limit, even when empty", () => {
    expect(refused(admit({ tokensPerMinute: 60 }, { tokens: 61 })).retryAfterMs).toBe(1_000);
  });

  test("is each key's own", () => {
    admitted(admit({ requestsPerMinute: 1 }, { subject: "key_1" }));
    admitted(admit({ requestsPerMinute: 1 }, { subject: "key_2" }));
    expect(admit({ requestsPerMinute: 1 }, { subject: "key_1" }).admitted).toBe(false);
  });

  test("obeys a changed limit with what it holds", () => {
    for (let count = 0; count < 5; count++) admitted(admit({ requestsPerMinute: 10 }));
    expect(refused(admit({ requestsPerMinute: 5 })).requests).toMatchObject({ limit: 5, remaining: 0 });
    expect(refused(admit({ requestsPerMinute: 2 })).remaining).toBe(0);
    expect(admitted(admit({ requestsPerMinute: 6 })).requests?.remaining).toBe(0);
  });

  test("of a clock that goes back counts on as if it stood", () => {
    admitted(admit({ requestsPerMinute: 1 }));
    clock.nowMs -= 3_600_000;
    expect(refused(admit({ requestsPerMinute: 1 })).retryAfterMs).toBe(61_000);
    clock.nowMs += 3_600_000 + 61_000;
    admitted(admit({ requestsPerMinute: 1 }));
  });
});

describe("all limits or none", () => {
  test.each([
    { limit: "requests_per_minute", blocks: { requestsPerMinute: 1 }, first: {} },
    { limit: "tokens_per_minute", blocks: { tokensPerMinute: 100 }, first: { tokens: 100 } },
    { limit: "concurrency", blocks: { concurrency: 1 }, first: {} },
  ])("a refusal by $limit takes nothing of the others", ({ limit, blocks, first }) => {
    const wide = { requestsPerMinute: 50, tokensPerMinute: 1_000, concurrency: 50 };
    const limits = { ...wide, ...blocks };
    admitted(admit(limits, { tokens: 1, ...first }));
    for (let count = 0; count < 20; count++) expect(refused(admit(limits, { tokens: 1 })).limit).toBe(limit);
    const after = admitted(admit(wide, { tokens: 1 }));
    expect(after.requests?.remaining).toBe(48);
    expect(after.tokens?.remaining).toBe(1_000 - (first.tokens ?? 1) - 1);
    for (let count = 0; count < 48; count++) admitted(admit({ concurrency: 50 }));
    expect(refused(admit({ concurrency: 50 })).limit).toBe("concurrency");
  });

  test("of two that refuse, the one with the longer wait is named", () => {
    admitted(admit({ tokensPerMinute: 10 }, { tokens: 10 }));
    clock.nowMs += 5_000;
    admitted(admit({ requestsPerMinute: 1 }));
    const both = refused(admit({ requestsPerMinute: 1, tokensPerMinute: 10, concurrency: 1 }, { tokens: 1 }));
    expect([both.limit, both.retryAfterMs]).toEqual(["requests_per_minute", 61_000]);
  });
});

describe("a correction", () => {
  const limits = { tokensPerMinute: 100 };

  test("gives back to the second of the admission", () => {
    const { admittedAtMs } = admitted(admit(limits, { tokens: 100 }));
    clock.nowMs += 30_000;
    coordination.correct("key_1", admittedAtMs, 100, 30);
    expect(admitted(admit(limits, { tokens: 70 })).tokens?.remaining).toBe(0);
    // The 30 leave with their admission, the 70 half a minute later.
    clock.nowMs = START_MS + 61_000;
    expect(admitted(admit(limits, { tokens: 30 })).tokens?.remaining).toBe(0);
  });

  test("takes what was used above the reservation, beyond the limit too", () => {
    const { admittedAtMs } = admitted(admit(limits, { tokens: 50 }));
    coordination.correct("key_1", admittedAtMs, 50, 250);
    const refusal = refused(admit(limits, { tokens: 1 }));
    expect([refusal.remaining, refusal.retryAfterMs]).toEqual([0, 61_000]);
  });

  test("of everything leaves the window empty", () => {
    const { admittedAtMs } = admitted(admit(limits, { tokens: 100 }));
    coordination.correct("key_1", admittedAtMs, 100, 0);
    const next = admitted(admit(limits, { tokens: 0 }));
    expect(next.tokens).toEqual({ limit: 100, remaining: 100, resetMs: 0 });
  });

  test("back up after one down to nothing is counted until its second leaves", () => {
    admitted(admit(limits, { tokens: 10 }));
    clock.nowMs += 5_000;
    const { admittedAtMs } = admitted(admit(limits, { tokens: 10 }));
    coordination.correct("key_1", admittedAtMs, 10, 0);
    expect(admit(limits).tokens?.resetMs).toBe(56_000);
    coordination.correct("key_1", admittedAtMs, 0, 30);
    expect(admit(limits).tokens).toEqual({ limit: 100, remaining: 60, resetMs: 61_000 });
    expect(refused(admit(limits, { tokens: 75 })).retryAfterMs).toBe(61_000);
  });

  test("that comes too late changes nothing of what came since", () => {
    const { admittedAtMs } = admitted(admit(limits, { tokens: 100 }));
    clock.nowMs += 61_000;
    admitted(admit(limits, { tokens: 80 }));
    coordination.correct("key_1", admittedAtMs, 100, 0);
    expect(refused(admit(limits, { tokens: 21 })).remaining).toBe(20);
  });

  test("gives back no more than there is, and of an unknown key nothing", () => {
    const { admittedAtMs } = admitted(admit(limits, { tokens: 10 }));
    coordination.correct("key_1", admittedAtMs, 500, 0);
    coordination.correct("key_none", admittedAtMs, 500, 0);
    expect(admitted(admit(limits, { tokens: 100 })).tokens?.remaining).toBe(0);
  });

  test("with any others in between keeps the sum of a plain model", () => {
    const step = fc.record({
      gapMs: fc.integer({ min: 0, max: 20_000 }),
      tokens: fc.integer({ min: 0, max: 50 }),
      correctsAt: fc.nat({ max: 30 }),
      used: fc.integer({ min: 0, max: 80 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 120 }), (steps) => {
        clock.nowMs += 200_000;
        const taken: { atMs: number; tokens: number }[] = [];
        const inWindow = () => {
          const oldest = Math.floor(clock.nowMs / 1_000) - 60;
          return taken
            .filter((one) => Math.floor(one.atMs / 1_000) >= oldest)
            .reduce((sum, one) => sum + one.tokens, 0);
        };
        for (const { gapMs, tokens, correctsAt, used } of steps) {
          clock.nowMs += gapMs;
          const fits = inWindow() + tokens <= 100;
          const result = admit(limits, { tokens });
          expect(result.admitted).toBe(fits);
          if (result.admitted) taken.push({ atMs: result.admittedAtMs, tokens });
          const corrected = taken.at(-1 - correctsAt);
          if (corrected !== undefined) {
            coordination.correct("key_1", corrected.atMs, corrected.tokens, used);
            // Beyond the window, there is nothing left to correct in the model either.
            corrected.tokens = used;
          }
          expect(refusedOrAdmittedRemaining(limits)).toBe(Math.max(0, 100 - inWindow()));
        }
      }),
    );
  });

  /** What remains, asked for without taking anything. */
  function refusedOrAdmittedRemaining(limits: { tokensPerMinute: number }): number | undefined {
    return admit(limits, { tokens: 0 }).tokens?.remaining;
  }
});

/** The most in any 60 seconds, looked at from the millisecond of each arrival; `taken` is in order. */
function mostInAnyMinute(
  taken: readonly { atMs: number; tokens: number }[],
  amountOf: (one: { atMs: number; tokens: number }) => number,
): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const one of taken) {
    sum += amountOf(one);
    for (let old = taken[first]; old !== undefined && old.atMs <= one.atMs - 60_000; old = taken[++first])
      sum -= amountOf(old);
    most = Math.max(most, sum);
  }
  return most;
}
