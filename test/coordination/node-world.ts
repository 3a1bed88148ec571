/** A world for the tests of coordination: one node whose clock the test drives. */
import { afterEach, beforeEach } from "vitest";
import type { AdmissionResult, Demand } from "../../src/coordination/coordination.js";
import {
  createInProcessCoordination,
  type InProcessCoordination,
  type InProcessOptions,
} from "../../src/coordination/in-process.js";

export const START_MS = 1_800_000_000_000;
export const NO_LIMITS = { requestsPerMinute: 0, tokensPerMinute: 0, concurrency: 0 };

export let clock = { nowMs: START_MS };
export let coordination: InProcessCoordination;
let requestCount = 0;

/** Gives each test of the file a coordination of its own. */
export function freshForEachTest(options: Partial<InProcessOptions> = {}): void {
  beforeEach(() => {
    clock = { nowMs: START_MS };
    coordination = createInProcessCoordination({ nowMs: () => clock.nowMs, heartbeatMs: 0, ...options });
  });
  afterEach(() => coordination.close());
}

export function admit(
  limits: Partial<typeof NO_LIMITS>,
  some: Partial<Demand & { requestId: string }> = {},
): AdmissionResult {
  const { requestId = `r${requestCount++}`, ...demand } = some;
  const full = { subject: "key_1", tokens: 0, limits: { ...NO_LIMITS, ...limits }, ...demand };
  const result = coordination.admit({ requestId, demands: [full] });
  if (result instanceof Promise) throw new Error("in one process, the answer comes at once");
  return result;
}

export function refused(result: AdmissionResult): Extract<AdmissionResult, { admitted: false }> {
  if (result.admitted) throw new Error("expected a refusal");
  return result;
}

export function admitted(result: AdmissionResult): Extract<AdmissionResult, { admitted: true }> {
  if (!result.admitted) throw new Error(`refused by ${result.limit}`);
  return result;
}
