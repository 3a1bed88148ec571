/** The slots of each driver: leases that end by themselves, are renewed, and are freed once. Word of changed keys. */
import { describe, expect, test } from "vitest";
import { LEASE_AGE_MAX_MS } from "../../src/coordination/concurrency-slots.js";
import { ACCOUNT, admit, admitted, clock, coordination, onEachDriver, refused } from "./node-world.js";

onEachDriver(() => {
  describe("a lease", () => {
    const limits = { concurrency: 2 };

    test("is held until it is released, and released once", async () => {
      admitted(await admit(limits, { requestId: "a" }));
      admitted(await admit(limits, { requestId: "b" }));
      expect(refused(await admit(limits))).toMatchObject({
        limit: "concurrency",
        limitValue: 2,
        remaining: 0,
        retryAfterMs: 1_000,
      });
      coordination.release(ACCOUNT, "key_1", "a");
      coordination.release(ACCOUNT, "key_1", "a");
      coordination.release(ACCOUNT, "key_none", "a");
      admitted(await admit(limits, { requestId: "c" }));
      expect((await admit(limits)).admitted).toBe(false);
    });

    test("ends by itself after 30 seconds without a heartbeat", async () => {
      admitted(await admit(limits, { requestId: "a" }));
      clock.nowMs += 10_000;
      admitted(await admit(limits, { requestId: "b" }));
      clock.nowMs += 19_999;
      expect((await admit(limits)).admitted).toBe(false);
      clock.nowMs += 1;
      admitted(await admit(limits, { requestId: "c" }));
      expect((await admit(limits)).admitted).toBe(false);
      // The release of a lease that has ended frees no other's slot.
      coordination.release(ACCOUNT, "key_1", "a");
      expect((await admit(limits)).admitted).toBe(false);
    });

    test("is renewed by heartbeats, but not for ever", async () => {
      admitted(await admit({ concurrency: 1 }));
      for (let elapsedMs = 10_000; elapsedMs < LEASE_AGE_MAX_MS; elapsedMs += 10_000) {
        clock.nowMs += 10_000;
        coordination.heartbeat();
        expect((await admit({ concurrency: 1 })).admitted).toBe(false);
      }
      clock.nowMs += 10_000;
      coordination.heartbeat();
      admitted(await admit({ concurrency: 1 }));
    });

    test("of the same request is taken once", async () => {
      admitted(await admit({ concurrency: 1 }, { requestId: "a" }));
      admitted(await admit({ concurrency: 1 }, { requestId: "a" }));
      coordination.release(ACCOUNT, "key_1", "a");
      admitted(await admit({ concurrency: 1 }, { requestId: "b" }));
      clock.nowMs += 29_999;
      admitted(await admit({ concurrency: 1 }, { requestId: "b" }));
      clock.nowMs += 1;
      admitted(await admit({ concurrency: 1 }, { requestId: "c" }));
    });
  });

  test("a changed key is told to all who asked", async () => {
    const told: unknown[] = [];
    coordination.onRevision((name) => told.push([1, name]));
    coordination.onRevision((name) => told.push([2, name]));
    await coordination.publishRevision(ACCOUNT, "key_1");
    expect(told).toContainEqual([1, "key_1"]);
    expect(told).toContainEqual([2, "key_1"]);
  });
});
