/** Jobs and slices for tests: what they ask for, and what each of their lines costs. */
import { UsageSource } from "../../src/api/index.js";
import type { JobLine, JobRequest } from "../../src/ledger/jobs.js";
import type { Settlement } from "../../src/ledger/ledger.js";
import type { SliceRequest } from "../../src/ledger/slices.js";
import { FREE } from "../pricing/prices.js";
import { usage } from "./operations.js";

export const JOB_LINES = 5;
export const LINE_BOUND_NANOS = 12n;

/** The last costs more than its bound. */
export function costOfLine(line: number): bigint {
  return BigInt(line * 3);
}

const SETTLED = {
  usage: usage(5n),
  usageSource: UsageSource.USAGE_SOURCE_REPORTED,
  upstream: "sim",
  attempts: 1,
  attemptLog: "",
} as const;
const WHO = { accountId: "acme", keyId: "key_1" } as const;

export function jobOf(jobId: string): JobRequest {
  return { jobId, ...WHO, budgets: [], amountNanos: LINE_BOUND_NANOS * BigInt(JOB_LINES) };
}

export function jobLine(jobId: string, number: number): JobLine {
  const { usageSource, ...settled } = SETTLED;
  const said = { jobId, number, ...WHO, model: "sim-1", price: FREE, boundNanos: LINE_BOUND_NANOS };
  return { ...said, ...settled, usageSource, costNanos: costOfLine(number) };
}

export function sliceOf(): SliceRequest {
  const amounts = { amountNanos: 10n, leastNanos: 10n, timeoutMs: 60_000 };
  return { ...WHO, model: "sim-1", budgets: [], price: FREE, ...amounts };
}

export function sliceSettlement(): Settlement {
  return { ...SETTLED, costNanos: 7n };
}
