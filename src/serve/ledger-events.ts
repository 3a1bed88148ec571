/** What the ledger says of what happens to it: the lines that operators read, and the counts. */
import type { LedgerOptions, LostSettlement, Replayed } from "../ledger/ledger.js";
import type { Log } from "../observe/log.js";
import type { Metrics } from "../observe/metrics.js";
import { telling } from "../observe/telling.js";
import { approximateUsd } from "../base/money.js";

type Events = "onReplayed" | "onOverage" | "onLate" | "onSettleLost" | "onSettlesWaiting" | "onRecovered";

export function ledgerEvents(log: Log, metrics: Metrics): Required<Pick<LedgerOptions, Events>> {
  return {
    onOverage: telling(log, (requestId: string, overageNanos: bigint, unkeptNanos: bigint) => {
      metrics.overageUsd.inc(approximateUsd(overageNanos + unkeptNanos));
      const fields = { request_id: requestId, overage_nanos: String(overageNanos) };
      log.warn(fields, "a request cost more than its account had");
      if (unkeptNanos === 0n) return;
      const unkept = { request_id: requestId, unkept_nanos: String(unkeptNanos) };
      log.error(unkept, "the total of overages is at its maximum: this part of a request's cost is not recorded");
    }),
    onLate: telling(log, (requestId: string, overageNanos: bigint) => {
      metrics.lateRecords.inc();
      metrics.lateOverageUsd.inc(approximateUsd(overageNanos));
      const fields = { request_id: requestId, overage_nanos: String(overageNanos) };
      log.warn(fields, "a request was settled whose hold had been lost");
    }),
    onSettleLost: telling(log, ({ requestId, costNanos, problem }: LostSettlement) => {
      metrics.settlesLost.inc();
      const fields = { request_id: requestId, cost_nanos: String(costNanos), problem };
      log.error(fields, "a settlement failed for good; recovery resolves its hold");
    }),
    onReplayed: telling(log, ({ settled, unfinished, refused }: Replayed) => {
      const fields = { settled, unfinished, refused };
      log.warn(fields, "an earlier process wrote a journal while the database was away: the ledger now has it");
    }),
    onSettlesWaiting: telling(log, (count: number) => metrics.settlesQueued.set(count)),
    onRecovered: telling(log, (settled: number, voided: number) => {
      metrics.orphans.inc({ end: "settled" }, settled);
      metrics.orphans.inc({ end: "voided" }, voided);
      log.warn({ settled, voided }, "orphaned holds were resolved");
    }),
  };
}
