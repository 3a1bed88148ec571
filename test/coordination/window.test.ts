/** The windows of each driver: they never hold too much, and say exactly when they have room. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import type { Admitted } from "../../src/coordination/coordination.js";
import {
  ACCOUNT,
  admit,
  admitted,
  ask,
  clock,
  coordination,
  demandOf,
  onEachDriver,
  refused,
  START_MS,
} from "./node-world.js";
import { mostInAnyMinute } from "./reference.js";

onEachDriver(({ slower }) => {
  describe("a window", () => {
    test("never holds more than its limits in any 60 seconds", async () => {
      const gap = fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 200 }) },
        { weight: 2, arbitrary: fc.integer({ min: 200, max: 3_000 }) },
        { weight: 1, arbitrary: fc.integer({ min: 58_000, max: 63_000 }) },
      );
      const arrivals = fc.array(fc.tuple(gap, fc.integer({ min: 1, max: 60 })), {
        minLength: 2_000 / slower,
        maxLength: 2_000 / slower,
      });
      const limits = fc.record({
        requestsPerMinute: fc.integer({ min: 1, max: 400 }),
        tokensPerMinute: fc.integer({ min: 60, max: 9_000 }),
      });
      let simulated = 0;
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 999 }), arrivals, limits, async (offsetMs, arrivals, limits) => {
          clock.nowMs += 200_000 + offsetMs;
          const taken: { atMs: number; tokens: number }[] = [];
          for (const [gapMs, tokens] of arrivals) {
            clock.nowMs += gapMs;
            simulated += 1;
            if ((await admit(limits, { tokens })).admitted) taken.push({ atMs: clock.nowMs, tokens });
          }
          expect(mostInAnyMinute(taken, () => 1)).toBeLessThanOrEqual(limits.requestsPerMinute);
          expect(mostInAnyMinute(taken, (one) => one.tokens)).toBeLessThanOrEqual(limits.tokensPerMinute);
          expect(taken.length).toBeGreaterThan(0);
        }),
        { numRuns: 30 / slower },
      );
      expect(simulated).toBeGreaterThanOrEqual(60_000 / slower ** 2);
    });

    test("refuses for exactly as long as it says", async () => {
      const gap = fc.integer({ min: 0, max: 9_000 });
      await fc.assert(
        fc.asyncProperty(
          fc.array(gap, { minLength: 5, maxLength: 60 }),
          fc.integer({ min: 1, max: 4 }),
          async (gaps, limit) => {
            clock.nowMs += 200_000;
            for (const gapMs of gaps) {
              clock.nowMs += gapMs;
              const result = await admit({ requestsPerMinute: limit });
              if (result.admitted) continue;
              clock.nowMs += result.retryAfterMs - 1;
              expect((await admit({ requestsPerMinute: limit })).admitted).toBe(false);
              clock.nowMs += 1;
              expect((await admit({ requestsPerMinute: limit })).admitted).toBe(true);
            }
          },
        ),
        { numRuns: 100 / slower },
      );
    });

    test("costs at most a second of waiting beyond the minute", async () => {
      clock.nowMs = START_MS + 999;
      admitted(await admit({ requestsPerMinute: 1 }));
      expect(refused(await admit({ requestsPerMinute: 1 })).retryAfterMs).toBe(60_001);
      clock.nowMs = START_MS + 60_999;
      expect(refused(await admit({ requestsPerMinute: 1 })).retryAfterMs).toBe(1);
      clock.nowMs = START_MS + 61_000;
      admitted(await admit({ requestsPerMinute: 1 }));
    });

    test("says what remains and when all of it is free", async () => {
      expect(admitted(await admit({ requestsPerMinute: 3, tokensPerMinute: 100 }, { tokens: 40 }))).toEqual({
        admitted: true,
        admittedAtMs: START_MS,
        requests: { limit: 3, remaining: 2, resetMs: 61_000 },
        tokens: { limit: 100, remaining: 60, resetMs: 61_000 },
      });
      clock.nowMs += 2_500;
      expect(refused(await admit({ requestsPerMinute: 3, tokensPerMinute: 100 }, { tokens: 61 }))).toEqual({
        admitted: false,
        firstTaken: false,
        subject: "key_1",
        limit: "tokens_per_minute",
        limitValue: 100,
        remaining: 60,
        retryAfterMs: 58_500,
        requests: { limit: 3, remaining: 2, resetMs: 58_500 },
        tokens: { limit: 100, remaining: 60, resetMs: 58_500 },
      });
    });

    test("waits for as many old tokens as it needs, and no more", async () => {
      for (const tokens of [10, 20, 30]) {
        admitted(await admit({ tokensPerMinute: 60 }, { tokens }));
        clock.nowMs += 1_000;
      }
      expect(refused(await admit({ tokensPerMinute: 60 }, { tokens: 10 })).retryAfterMs).toBe(58_000);
      expect(refused(await admit({ tokensPerMinute: 60 }, { tokens: 11 })).retryAfterMs).toBe(59_000);
      expect(refused(await admit({ tokensPerMinute: 60 }, { tokens: 31 })).retryAfterMs).toBe(60_000);
    });

    test("refuses what is above the whole limit, even when empty", async () => {
      expect(refused(await admit({ tokensPerMinute: 60 }, { tokens: 61 })).retryAfterMs).toBe(1_000);
    });

    test("is each key's own", async () => {
      admitted(await admit({ requestsPerMinute: 1 }, { subject: "key_1" }));
      admitted(await admit({ requestsPerMinute: 1 }, { subject: "key_2" }));
      expect((await admit({ requestsPerMinute: 1 }, { subject: "key_1" })).admitted).toBe(false);
    });

    test("obeys a changed limit with what it holds", async () => {
      for (let count = 0; count < 5; count++) admitted(await admit({ requestsPerMinute: 10 }));
      expect(refused(await admit({ requestsPerMinute: 5 })).requests).toMatchObject({ limit: 5, remaining: 0 });
      expect(refused(await admit({ requestsPerMinute: 2 })).remaining).toBe(0);
      expect(admitted(await admit({ requestsPerMinute: 6 })).requests?.remaining).toBe(0);
    });

    test("of a clock that goes back counts on as if it stood", async () => {
      admitted(await admit({ requestsPerMinute: 1 }));
      clock.nowMs -= 3_600_000;
      expect(refused(await admit({ requestsPerMinute: 1 })).retryAfterMs).toBe(61_000);
      clock.nowMs += 3_600_000 + 61_000;
      admitted(await admit({ requestsPerMinute: 1 }));
    });
  });

  describe("all limits or none", () => {
    test.each([
      { limit: "requests_per_minute", blocks: { requestsPerMinute: 1 }, first: {} },
      { limit: "tokens_per_minute", blocks: { tokensPerMinute: 100 }, first: { tokens: 100 } },
      { limit: "concurrency", blocks: { concurrency: 1 }, first: {} },
    ])("a refusal by $limit takes nothing of the others", async ({ limit, blocks, first }) => {
      const wide = { requestsPerMinute: 50, tokensPerMinute: 1_000, concurrency: 50 };
      const limits = { ...wide, ...blocks };
      admitted(await admit(limits, { tokens: 1, ...first }));
      for (let count = 0; count < 20; count++) expect(refused(await admit(limits, { tokens: 1 })).limit).toBe(limit);
      const after = admitted(await admit(wide, { tokens: 1 }));
      expect(after.requests?.remaining).toBe(48);
      expect(after.tokens?.remaining).toBe(1_000 - (first.tokens ?? 1) - 1);
      for (let count = 0; count < 48; count++) admitted(await admit({ concurrency: 50 }));
      expect(refused(await admit({ concurrency: 50 })).limit).toBe("concurrency");
    });

    test("what is asked for first stays taken where only the rest is refused, and the refusal says so", async () => {
      const first = [demandOf({ requestsPerMinute: 2, concurrency: 2 })];
      const full = demandOf({ tokensPerMinute: 10 }, { tokens: 11 });
      const refusal = refused(await ask({ requestId: "a", first, demands: [full] }));
      expect(refusal).toMatchObject({ firstTaken: true, limit: "tokens_per_minute", retryAfterMs: 1_000 });
      expect(refusal.requests).toEqual({ limit: 2, remaining: 1, resetMs: 61_000 });
      // The same request asks again for less: what it has, it does not ask for twice.
      const less = demandOf({ tokensPerMinute: 10 }, { tokens: 10 });
      expect(admitted(await ask({ requestId: "a", demands: [less] })).tokens?.remaining).toBe(0);
      const second = admitted(await ask({ requestId: "b", first, demands: [] }));
      expect(second.requests?.remaining).toBe(0);
      expect(refused(await ask({ first, demands: [less] }))).toMatchObject({
        firstTaken: false,
        limit: "requests_per_minute",
        tokens: undefined,
      });
      coordination.release(ACCOUNT, "key_1", "a");
      clock.nowMs += 61_000;
      coordination.heartbeat();
      admitted(await ask({ first, demands: [] }));
      admitted(await ask({ first: [demandOf({ concurrency: 3 })], demands: [] }));
    });

    test("a peek answers as an admission would, and takes nothing", async () => {
      const request = {
        requestId: "p",
        first: [demandOf({ requestsPerMinute: 1, concurrency: 1 })],
        demands: [demandOf({ tokensPerMinute: 10 }, { tokens: 4 })],
      };
      for (let count = 0; count < 3; count++) expect((await ask(request, "peek")).admitted).toBe(true);
      expect(admitted(await ask(request)).tokens?.remaining).toBe(6);
      expect(refused(await ask({ ...request, requestId: "q" }, "peek")).firstTaken).toBe(false);
    });

    test("of two that refuse, the one with the longer wait is named", async () => {
      admitted(await admit({ tokensPerMinute: 10 }, { tokens: 10 }));
      clock.nowMs += 5_000;
      admitted(await admit({ requestsPerMinute: 1 }));
      const both = refused(await admit({ requestsPerMinute: 1, tokensPerMinute: 10, concurrency: 1 }, { tokens: 1 }));
      expect([both.limit, both.retryAfterMs]).toEqual(["requests_per_minute", 61_000]);
    });
  });

  describe("a correction", () => {
    const limits = { tokensPerMinute: 100 };

    test("gives back to the second of the admission", async () => {
      const taken = admitted(await admit(limits, { tokens: 100 }));
      clock.nowMs += 30_000;
      coordination.correct(ACCOUNT, "key_1", taken, 100, 30);
      expect(admitted(await admit(limits, { tokens: 70 })).tokens?.remaining).toBe(0);
      // The 30 leave with their admission, the 70 half a minute later.
      clock.nowMs = START_MS + 61_000;
      expect(admitted(await admit(limits, { tokens: 30 })).tokens?.remaining).toBe(0);
    });

    test("takes what was used above the reservation, beyond the limit too", async () => {
      const taken = admitted(await admit(limits, { tokens: 50 }));
      coordination.correct(ACCOUNT, "key_1", taken, 50, 250);
      const refusal = refused(await admit(limits, { tokens: 1 }));
      expect([refusal.remaining, refusal.retryAfterMs]).toEqual([0, 61_000]);
    });

    test("of everything leaves the window empty", async () => {
      const taken = admitted(await admit(limits, { tokens: 100 }));
      coordination.correct(ACCOUNT, "key_1", taken, 100, 0);
      const next = admitted(await admit(limits, { tokens: 0 }));
      expect(next.tokens).toEqual({ limit: 100, remaining: 100, resetMs: 0 });
    });

    test("back up after one down to nothing is counted until its second leaves", async () => {
      admitted(await admit(limits, { tokens: 10 }));
      clock.nowMs += 5_000;
      const taken = admitted(await admit(limits, { tokens: 10 }));
      coordination.correct(ACCOUNT, "key_1", taken, 10, 0);
      expect((await admit(limits)).tokens?.resetMs).toBe(56_000);
      coordination.correct(ACCOUNT, "key_1", taken, 0, 30);
      expect((await admit(limits)).tokens).toEqual({ limit: 100, remaining: 60, resetMs: 61_000 });
      expect(refused(await admit(limits, { tokens: 75 })).retryAfterMs).toBe(61_000);
    });

    test("that comes too late changes nothing of what came since", async () => {
      const taken = admitted(await admit(limits, { tokens: 100 }));
      clock.nowMs += 61_000;
      admitted(await admit(limits, { tokens: 80 }));
      coordination.correct(ACCOUNT, "key_1", taken, 100, 0);
      expect(refused(await admit(limits, { tokens: 21 })).remaining).toBe(20);
    });

    test("gives back no more than there is, and of an unknown key nothing", async () => {
      const taken = admitted(await admit(limits, { tokens: 10 }));
      coordination.correct(ACCOUNT, "key_1", taken, 500, 0);
      coordination.correct(ACCOUNT, "key_none", taken, 500, 0);
      expect(admitted(await admit(limits, { tokens: 100 })).tokens?.remaining).toBe(0);
    });

    test("with any others in between keeps the sum of a plain model", async () => {
      const step = fc.record({
        gapMs: fc.integer({ min: 0, max: 20_000 }),
        tokens: fc.integer({ min: 0, max: 50 }),
        correctsAt: fc.nat({ max: 30 }),
        used: fc.integer({ min: 0, max: 80 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 120 }), async (steps) => {
          clock.nowMs += 200_000;
          const taken: { atMs: number; tokens: number; by: Admitted }[] = [];
          const inWindow = () => {
            const oldest = Math.floor(clock.nowMs / 1_000) - 60;
            return taken
              .filter((one) => Math.floor(one.atMs / 1_000) >= oldest)
              .reduce((sum, one) => sum + one.tokens, 0);
          };
          for (const { gapMs, tokens, correctsAt, used } of steps) {
            clock.nowMs += gapMs;
            const fits = inWindow() + tokens <= 100;
            const result = await admit(limits, { tokens });
            expect(result.admitted).toBe(fits);
            if (result.admitted) taken.push({ atMs: result.admittedAtMs, tokens, by: result });
            const corrected = taken.at(-1 - correctsAt);
            if (corrected !== undefined) {
              coordination.correct(ACCOUNT, "key_1", corrected.by, corrected.tokens, used);
              // Beyond the window, there is nothing left to correct in the model either.
              corrected.tokens = used;
            }
            expect((await admit(limits, { tokens: 0 })).tokens?.remaining).toBe(Math.max(0, 100 - inWindow()));
          }
        }),
        { numRuns: 100 / slower },
      );
    });
  });
});
