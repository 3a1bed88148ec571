/** What only the coordination of one node has: it beats by itself, and its table of keys stays bounded. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createInProcessCoordination, type InProcessCoordination } from "../../src/coordination/in-process.js";
import { GatewayError } from "../../src/base/errors.js";
import { ACCOUNT, admitted, demandOf, newRequestId, NO_LIMITS, START_MS } from "./node-world.js";

test("a lease is renewed by the process itself, until it closes", async () => {
  vi.useFakeTimers();
  try {
    const beating = createInProcessCoordination({ nowMs: () => Date.now() });
    const take = (requestId: string) => {
      const result = beating.admit({
        requestId,
        accountId: "acme",
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

describe("the table of keys", () => {
  let clock = { nowMs: START_MS };
  let coordination: InProcessCoordination;
  beforeEach(() => {
    clock = { nowMs: START_MS };
    coordination = createInProcessCoordination({ nowMs: () => clock.nowMs, heartbeatMs: 0, subjectsMax: 100 });
  });
  afterEach(() => coordination.close());

  const admit = (limits: Partial<typeof NO_LIMITS>, { requestId = newRequestId(), subject = "" }) => {
    const result = coordination.admit({ requestId, accountId: ACCOUNT, demands: [demandOf(limits, { subject })] });
    if (result instanceof Promise) throw new Error("in one process, the answer comes at once");
    return result;
  };

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
    coordination.release(ACCOUNT, "key_50", "held 50");
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
