/** The coordination of one node: leases that end, a table of keys that stays bounded, word of changed keys. */
import { describe, expect, test, vi } from "vitest";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import { GatewayError } from "../../src/errors.js";
import { admit, admitted, clock, coordination, freshForEachTest, NO_LIMITS, refused } from "./node-world.js";

freshForEachTest();

describe("a lease", () => {
  const limits = { concurrency: 2 };

  test("is held until it is released, and released once", () => {
    admitted(admit(limits, { requestId: "a" }));
    admitted(admit(limits, { requestId: "b" }));
    expect(refused(admit(limits))).toMatchObject({
      limit: "concurrency",
      limitValue: 2,
      remaining: 0,
      retryAfterMs: 1_000,
    });
    coordination.release("key_1", "a");
    coordination.release("key_1", "a");
    coordination.release("key_none", "a");
    admitted(admit(limits, { requestId: "c" }));
    expect(admit(limits).admitted).toBe(false);
  });

  test("ends by itself after 30 seconds without a heartbeat", () => {
    admitted(admit(limits, { requestId: "a" }));
    clock.nowMs += 10_000;
    admitted(admit(limits, { requestId: "b" }));
    clock.nowMs += 19_999;
    expect(admit(limits).admitted).toBe(false);
    clock.nowMs += 1;
    admitted(admit(limits, { requestId: "c" }));
    expect(admit(limits).admitted).toBe(false);
    // The release of a lease that has ended frees no other's slot.
    coordination.release("key_1", "a");
    expect(admit(limits).admitted).toBe(false);
  });

  test("is renewed by heartbeats, but not for ever", () => {
    admitted(admit({ concurrency: 1 }));
    for (let elapsedMs = 10_000; elapsedMs < 900_000; elapsedMs += 10_000) {
      clock.nowMs += 10_000;
      coordination.heartbeat();
      expect(admit({ concurrency: 1 }).admitted).toBe(false);
    }
    clock.nowMs += 10_000;
    coordination.heartbeat();
    admitted(admit({ concurrency: 1 }));
  });

  test("is renewed by the process itself, until it closes", async () => {
    vi.useFakeTimers();
    try {
      const beating = createInProcessCoordination({ nowMs: () => Date.now() });
      const take = (requestId: string) => {
        const result = beating.admit({
          requestId,
          demands: [{ subject: "k", tokens: 0, limits: { ...NO_LIMITS, concurrency: 1 } }],
        });
        return result instanceof Promise ? undefined : result.admitted;
      };
      expect(take("a")).toBe(true);
      vi.advanceTimersByTime(300_000);
      expect(take("b")).toBe(false);
      await beating.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("of the same request is taken once", () => {
    admitted(admit({ concurrency: 1 }, { requestId: "a" }));
    admitted(admit({ concurrency: 1 }, { requestId: "a" }));
    coordination.release("key_1", "a");
    admitted(admit({ concurrency: 1 }, { requestId: "b" }));
    clock.nowMs += 29_999;
    admitted(admit({ concurrency: 1 }, { requestId: "b" }));
    clock.nowMs += 1;
    admitted(admit({ concurrency: 1 }, { requestId: "c" }));
  });
});

describe("the table of keys", () => {
  freshForEachTest({ subjectsMax: 100 });

  test("refuses new keys rather than forget one that counts, and makes room when its windows have passed", () => {
    for (let count = 0; count < 100; count++) admitted(admit({ requestsPerMinute: 1 }, { subject: `key_${count}` }));
    expect(() => admit({ requestsPerMinute: 1 }, { subject: "key_100" })).toThrow(GatewayError);
    for (let count = 0; count < 100; count++)
      expect(admit({ requestsPerMinute: 1 }, { subject: `key_${count}` }).admitted).toBe(false);
    clock.nowMs += 61_000;
    admitted(admit({ requestsPerMinute: 1 }, { subject: "key_100" }));
  });

  test("finds the one idle key among many that count", () => {
    for (let count = 0; count < 100; count++)
      admitted(admit({ concurrency: 1 }, { subject: `key_${count}`, requestId: `held ${count}` }));
    coordination.release("key_50", "held 50");
    admitted(admit({ concurrency: 1 }, { subject: "key_new" }));
    expect(coordination.subjectCount).toBe(100);
  });

  test("never forgets a running request, however many keys come and go", () => {
    admitted(admit({ concurrency: 1 }, { subject: "key_long", requestId: "long" }));
    for (let count = 0; count < 2_000; count++) {
      clock.nowMs += 1_000;
      coordination.heartbeat();
      if (count < 800) expect(admit({ concurrency: 1 }, { subject: "key_long" }).admitted).toBe(false);
      admitted(admit({ requestsPerMinute: 1 }, { subject: `key_${count}` }));
      expect(coordination.subjectCount).toBeLessThanOrEqual(100);
    }
  });
});

test("a changed key is told to all who asked", async () => {
  const told: unknown[] = [];
  coordination.onRevision((keyId, revision) => told.push([1, keyId, revision]));
  coordination.onRevision((keyId, revision) => told.push([2, keyId, revision]));
  await coordination.publishRevision("key_1", 7);
  expect(told).toEqual([
    [1, "key_1", 7],
    [2, "key_1", 7],
  ]);
});
