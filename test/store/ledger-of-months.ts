/** A ledger over several months, with everything in it that can happen to money. The same seed makes the same one. */
import { UsageSource } from "../../src/api/index.js";
import type { LedgerOperation, ReserveOperation } from "../../src/ledger/operation.js";
import type { Store } from "../../src/store/store.js";
import { checkpointOf, creditOf, holdOf, settleOf, voidOf } from "../ledger/operations.js";
import { TEST_ACT } from "../support/acts.js";
import { type Random, randomOf } from "../support/random.js";

export const ACCOUNTS = ["acme", "idle", "other"];
export const MONTHS = ["2026-03", "2026-04", "2026-05", "2026-06"];
const NODE = "node_1";

interface Life {
  readonly random: Random;
  readonly operations: LedgerOperation[];
  nowMs: number;
  count: number;
}

/** Fills an empty store. `requests` is how many each month has. */
export async function fillMonths(store: Store, seed: number, requests: number): Promise<void> {
  const life: Life = { random: randomOf(seed), operations: [], nowMs: 0, count: 0 };
  for (const id of ACCOUNTS) await store.accounts.create({ id, name: id, createTimeMs: 0 }, TEST_ACT);
  for (const month of MONTHS) {
    life.nowMs = Date.parse(`${month}-01T00:00:00Z`) + 1;
    const { nowMs } = life;
    life.operations.push({ kind: "beat", nodeId: NODE, nowMs, isLast: false });
    for (const accountId of ACCOUNTS)
      if (accountId !== "idle" || month === MONTHS[0])
        life.operations.push(creditOf(1_000_000n, { accountId, creditId: `${accountId} ${month}`, nowMs }));
    for (let request = 0; request < requests; request += 1) happen(life);
    // The month ends while requests run, and while a lease is open: they end in the next.
    life.nowMs = Date.parse(`${month}-28T00:00:00Z`);
    const late = `late-${month}`;
    life.operations.push(holdOf({ requestId: late, accountId: "acme", amountNanos: 100n, nowMs: life.nowMs }));
    life.operations.push(leaseOf(`long-${month}`, life.nowMs));
    life.operations.push(drawn(`draw-${month}`, `long-${month}`, life.nowMs));
    life.operations.push(reserveOf(`job-${month}`, life.nowMs), reserveOf(`open-${month}`, life.nowMs));
    for (const place of [1, 2]) life.operations.push(lineOf(`job-${month}`, place, life.nowMs));
    life.operations.push(lineOf(`open-${month}`, 1, life.nowMs));
    life.nowMs += 6 * 86_400_000;
    life.operations.push(lineOf(`job-${month}`, 3, life.nowMs), lineOf(`job-${month}`, 1, life.nowMs));
    life.operations.push({ kind: "return", leaseId: `job-${month}`, nowMs: life.nowMs });
    life.operations.push(settleOf({ requestId: late, costNanos: 60n, nowMs: life.nowMs }));
    life.operations.push(settleOf({ requestId: `draw-${month}`, costNanos: 7n, nowMs: life.nowMs }));
    life.operations.push({ kind: "return", leaseId: `long-${month}`, nowMs: life.nowMs });
  }
  life.operations.push(holdOf({ requestId: "open", accountId: "acme", amountNanos: 10n, nowMs: life.nowMs }));
  for (let start = 0; start < life.operations.length; start += 50)
    await store.ledger.commit(life.operations.slice(start, start + 50));
}

function happen(life: Life): void {
  const { random, operations } = life;
  const number = (life.count += 1);
  const requestId = `r${String(number).padStart(6, "0")}`;
  const accountId = random() < 0.7 ? "acme" : "other";
  const keyId = random() < 0.5 ? "key_1" : "key_2";
  const model = random() < 0.5 ? "sim-1" : "sim-2";
  const nowMs = (life.nowMs += Math.floor(random() * 10_000_000) % 3_000_000);
  const asked = { requestId, accountId, keyId, model, nowMs, amountNanos: 50n } as const;
  const fate = random();
  if (fate < 0.1) {
    const leaseId = `lease-${number}`;
    operations.push(leaseOf(leaseId, nowMs), drawn(requestId, leaseId, nowMs), drawn(`${requestId}b`, leaseId, nowMs));
    operations.push(settleOf({ requestId, costNanos: 5n, nowMs }));
    operations.push({ kind: "return", leaseId, nowMs }, voidOf({ requestId: `${requestId}b`, nowMs }));
    if (fate < 0.03) operations.push(refundOf(requestId, nowMs, 2n));
    return;
  }
  operations.push(holdOf(asked));
  if (fate < 0.2) operations.push(voidOf({ requestId, nowMs, operatorCostNanos: 3n }));
  else if (fate < 0.3) operations.push(settleOf({ requestId, nowMs, costNanos: 2_000_000_000n }));
  else if (fate < 0.4) operations.push(...recovered(asked, fate < 0.35));
  else operations.push(settleOf({ requestId, nowMs, costNanos: 20n, operatorCostNanos: 11n }));
  if (fate > 0.9) operations.push(refundOf(requestId, nowMs, 0n));
  if (fate > 0.85 && fate < 0.9) operations.push(debitOf(accountId, `debit-${number}`, nowMs));
  if (fate > 0.3 && accountId === "acme" && random() < 0.3)
    operations.push(creditOf(50_000n, { accountId, creditId: `credit-${number}`, nowMs }));
}

type Asked = Parameters<typeof holdOf>[0] & { readonly requestId: string; readonly nowMs: number };

/** A node that died, with or without a checkpoint; what it noted nothing of comes to be settled late. */
function recovered({ requestId, nowMs }: Asked, isNoted: boolean): LedgerOperation[] {
  const recover: LedgerOperation = { kind: "recover", nodeId: NODE, nowMs, silent: [], live: new Set() };
  if (isNoted) return [checkpointOf({ requestId, nowMs }), recover];
  return [recover, settleOf({ requestId, nowMs: nowMs + 5, costNanos: 3n })];
}

function leaseOf(leaseId: string, nowMs: number): LedgerOperation {
  const who = { nodeId: NODE, accountId: "acme", keyId: "key_1", budgets: [] };
  return { kind: "lease", leaseId, ...who, amountNanos: 100n, requestNanos: 2n, nowMs };
}

function drawn(requestId: string, leaseId: string, nowMs: number): LedgerOperation {
  return holdOf({ requestId, leaseId, amountNanos: 9n, nowMs });
}

export function reserveOf(jobId: string, nowMs: number, amountNanos = 300n): ReserveOperation {
  return { kind: "reserve", jobId, accountId: "acme", keyId: "key_1", budgets: [], amountNanos, nowMs };
}

/** A line of a job: the second costs nothing, the third more than its bound. */
export function lineOf(jobId: string, place: number, nowMs: number): LedgerOperation {
  const { accountId, keyId } = reserveOf(jobId, nowMs);
  const { model, price, nodeId, budgets } = holdOf({});
  const terms = { accountId, keyId, model, price, nodeId, budgets, amountNanos: 20n, jobId };
  const said = { requestId: `${jobId}:${place}`, nowMs, terms: { ...terms, createTimeMs: nowMs, expireTimeMs: nowMs } };
  return place === 2 ? voidOf(said) : settleOf({ ...said, costNanos: place === 3 ? 25n : 8n });
}

export function refundOf(requestId: string, nowMs: number, amountNanos: bigint): LedgerOperation {
  const said = { reason: "a test", actor: "key_0", nowMs, act: TEST_ACT } as const;
  return { kind: "refund", refundId: `refund-${requestId}`, requestId, amountNanos, ...said };
}

export function debitOf(accountId: string, debitId: string, nowMs: number): LedgerOperation {
  return { kind: "debit", debitId, accountId, amountNanos: 40n, reason: "x", actor: "y", nowMs, act: TEST_ACT };
}

/** A settlement that says what its request was admitted on, as one of a journal. */
export function journaled(requestId: string, nowMs: number): LedgerOperation {
  const { accountId, keyId, model, nodeId, amountNanos, price, budgets, expireTimeMs } = holdOf({ nowMs });
  const terms = { accountId, keyId, model, nodeId, amountNanos, price, budgets, expireTimeMs, createTimeMs: nowMs };
  const usageSource = UsageSource.USAGE_SOURCE_REPORTED;
  return settleOf({ requestId, nowMs, usageSource, costNanos: 4n, terms });
}
