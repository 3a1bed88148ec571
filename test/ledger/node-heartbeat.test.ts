/** How long a node that died keeps what it held: the beats of another one, on timers that the test moves. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NodeHeartbeat, type NodeHeartbeatOptions } from "../../src/ledger/node-heartbeat.js";
import { LiveHolds } from "../../src/ledger/live-holds.js";
import type { LedgerOperation, LedgerResult } from "../../src/ledger/operation.js";

const STEP_MS = 250;
/** What is promised, less what writing the recovery may take. */
const DEAD_MS_MAX = 18_500;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** When, after its last beat, another node is taken for dead by one that began to look so much later. */
async function deathMs(lastBeatMs: number, lateMs: number): Promise<number> {
  const startMs = performance.now();
  const elapsedMs = (): number => performance.now() - startMs;
  let deadMs = Number.NaN;
  const submit = async (operation: LedgerOperation): Promise<LedgerResult> => {
    await new Promise((resolve) => setTimeout(resolve, lateMs));
    if (operation.kind === "recover") {
      if (operation.silent.length > 0 && Number.isNaN(deadMs)) deadMs = elapsedMs();
      return { kind: "recovered", settled: 0, voided: 0 };
    }
    const beats = Math.floor(Math.min(elapsedMs(), lastBeatMs) / STEP_MS);
    return { kind: "beaten", others: [{ nodeId: "node_2", beats }] };
  };
  const lease = new NodeHeartbeat({
    writer: { submit } as unknown as NodeHeartbeatOptions["writer"],
    nodeId: "node_1",
    live: new LiveHolds(),
    nowMs: Date.now,
    machineMs: Date.now,
    monotonicMs: () => performance.now(),
    log: { warn: () => expect.unreachable(), error: () => expect.unreachable() },
    onRecovered: () => {},
    leases: { beaten: () => {}, endWhere: () => {} },
  });
  const started = lease.start();
  await vi.advanceTimersByTimeAsync(60_000);
  await started;
  const ended = lease.end();
  await vi.advanceTimersByTimeAsync(1_000);
  await ended;
  return deadMs - Math.floor(lastBeatMs / STEP_MS) * STEP_MS;
}

const PHASES = Array.from({ length: 24 }, (_, at) => 10_000 + at * STEP_MS);

test.each([0, 1, 7])("wherever between two beats it died, where a write takes %i ms", async (lateMs) => {
  for (const phase of PHASES) {
    const tookMs = await deathMs(phase, lateMs);
    expect(tookMs, `dead at ${phase} ms`).toBeGreaterThanOrEqual(15_000);
    expect(tookMs, `dead at ${phase} ms`).toBeLessThanOrEqual(DEAD_MS_MAX);
  }
});

test("who asks after a recovery hears of it at once, and of each that resolves something", async () => {
  const found = [0, 2, 0, 3];
  const submit = async (operation: LedgerOperation): Promise<LedgerResult> =>
    operation.kind === "recover"
      ? { kind: "recovered", settled: found.shift() ?? 0, voided: 0 }
      : { kind: "beaten", others: [] };
  const lease = new NodeHeartbeat({
    writer: { submit } as unknown as NodeHeartbeatOptions["writer"],
    nodeId: "node_1",
    live: new LiveHolds(),
    nowMs: Date.now,
    machineMs: Date.now,
    monotonicMs: () => performance.now(),
    log: { warn: () => expect.unreachable(), error: () => expect.unreachable() },
    onRecovered: () => {},
    leases: { beaten: () => {}, endWhere: () => {} },
  });
  let calls = 0;
  await lease.start();
  lease.afterRecovery(() => (calls += 1));
  expect(calls).toBe(0);
  await vi.advanceTimersByTimeAsync(3_100);
  expect(calls).toBe(1);
  let late = 0;
  lease.afterRecovery(() => (late += 1));
  expect(late).toBe(1);
  await vi.advanceTimersByTimeAsync(6_100);
  expect([calls, late]).toEqual([1, 2]);
  await lease.end();
});
