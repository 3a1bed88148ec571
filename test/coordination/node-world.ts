/** A world for the tests of coordination: one node of each driver, whose clock the test drives. */
import { afterAll, afterEach, beforeAll, beforeEach, describe } from "vitest";
import type { AdmissionRequest, AdmissionResult, Admitted, Demand } from "../../src/coordination/coordination.js";
import { type Beating, type Driver, DRIVERS } from "./drivers.js";

export const START_MS = 1_800_000_000_000;
export const NO_LIMITS = { requestsPerMinute: 0, tokensPerMinute: 0, concurrency: 0 };
export const ACCOUNT = "acme";

export let clock = { nowMs: START_MS };
export let coordination: Beating;
let requestCount = 0;

/** Runs the tests once for each driver, each test with a coordination of its own; where one is missing, it is named. */
export function onEachDriver(define: (driver: Driver) => void): void {
  for (const driver of DRIVERS) {
    describe(`(${driver.name})`, () => {
      let shared: Awaited<ReturnType<Driver["begin"]>> | undefined;
      beforeAll(async () => {
        if (driver.missing === undefined) shared = await driver.begin();
      });
      beforeEach(async (context) => {
        context.skip(driver.missing !== undefined, driver.missing);
        if (shared === undefined) return;
        clock = { nowMs: START_MS };
        const { nowMs } = { nowMs: () => clock.nowMs };
        coordination = await shared.open({ nowMs });
      });
      afterEach(async () => {
        if (driver.missing === undefined) await coordination.close();
      });
      afterAll(() => shared?.close());
      define(driver);
    });
  }
}

export async function admit(
  limits: Partial<typeof NO_LIMITS>,
  some: Partial<Demand & { requestId: string }> = {},
): Promise<AdmissionResult> {
  const { requestId = newRequestId(), ...demand } = some;
  return ask({ requestId, demands: [demandOf(limits, demand)] });
}

/** A demand of `key_1`, unless it names another subject. */
export function demandOf(limits: Partial<typeof NO_LIMITS>, some: Partial<Demand> = {}): Demand {
  return { subject: "key_1", tokens: 0, limits: { ...NO_LIMITS, ...limits }, ...some };
}

export async function ask(
  request: Omit<AdmissionRequest, "accountId" | "requestId"> & { requestId?: string },
  act: "admit" | "peek" = "admit",
): Promise<AdmissionResult> {
  return coordination[act]({ requestId: newRequestId(), accountId: ACCOUNT, ...request });
}

export function newRequestId(): string {
  return `r${requestCount++}`;
}

export function refused(result: AdmissionResult): Extract<AdmissionResult, { admitted: false }> {
  if (result.admitted) throw new Error("expected a refusal");
  return result;
}

export function admitted(result: AdmissionResult): Admitted {
  if (!result.admitted) throw new Error(`refused by ${result.limit}`);
  return result;
}
