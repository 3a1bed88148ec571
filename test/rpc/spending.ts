/** Requests of a core's accounts, for tests of what is told of them. */
import { randomUUID } from "node:crypto";
import { Price, Usage, UsageSource } from "../../src/api/index.js";
import type { OpenCore } from "./open-core.js";

export interface Spending {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
}

/** One request that was held, answered and settled. */
export async function spend({ parts }: OpenCore, spending: Spending): Promise<string> {
  const requestId = `req_${randomUUID()}`;
  const price = { ...Price.decode(new Uint8Array()), outputPicos: 2_000n };
  const amounts = { amountNanos: 100n, leastNanos: 100n };
  const hold = await parts.ledger.hold({ requestId, ...spending, ...amounts, budgets: [], price, timeoutMs: 1_000 });
  const used = { ...Usage.decode(new Uint8Array()), outputTokens: 5n };
  const settlement = { usage: used, usageSource: UsageSource.USAGE_SOURCE_REPORTED, costNanos: 10n };
  await hold.settle({ ...settlement, upstream: "here", attempts: 1, attemptLog: "" });
  return requestId;
}
