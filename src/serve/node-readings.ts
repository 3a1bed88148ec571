/** What metrics read of this node when Prometheus asks: its ledger, its threads, its upstreams and named accounts. */
import { dayOf } from "../base/day.js";
import type { Clock } from "../clock/clock.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Metrics } from "../observe/metrics.js";
import type { AccountGauges, BudgetGauges, NodeReadings, UpstreamGauges } from "../observe/node-metrics.js";
import { waitingCounts } from "../pricing/tokens.js";
import type { Routing } from "../routing/routing.js";
import type { DatabaseOutage } from "./database-outage.js";
import type { SettingsKeeper } from "./settings-keeper.js";
import type { AccountRow, Store } from "../store/store.js";

/** How old what is told of accounts may be: several who ask share one look into the database. */
const ACCOUNTS_AGE_MS = 10_000;
/** How long Prometheus waits for the database before it is told nothing of accounts. */
const ACCOUNTS_WAIT_MS = 2_000;
const FIRST_DAY = "1970-01-01";

type Committing = Pick<Store["ledger"], "commit">;

export interface NodeReadingParts {
  readonly ledger: Ledger;
  readonly store: Pick<Store, "ledger" | "accounts">;
  readonly routing: Routing;
  readonly longBodies: { waiting(): number };
  readonly longAnswers: { waiting(): number };
  readonly answerMemory: { readonly used: number };
  /** Those in force, which name accounts. */
  readonly settings: Pick<SettingsKeeper, "metrics">;
  readonly clock: Pick<Clock, "nowMs" | "skewMs" | "lookAgeMs">;
  readonly outage: Pick<DatabaseOutage, "isAway">;
}

export function nodeReadings(parts: NodeReadingParts): NodeReadings {
  const { ledger, routing, longBodies, longAnswers, answerMemory, clock, outage } = parts;
  let read: { readonly timeMs: number; readonly accounts: Promise<readonly AccountGauges[]> } | undefined;
  return {
    openHolds: () => ledger.lease.openHoldCount,
    upstreams: () => upstreamsOf(routing),
    queues: () => [
      { worker: "ledger", jobs: ledger.lease.waitingOperations },
      { worker: "reading", jobs: longBodies.waiting() },
      { worker: "answers", jobs: longAnswers.waiting() },
      { worker: "counting", jobs: waitingCounts() },
    ],
    answerBytes: () => answerMemory.used,
    clock: () => clock,
    isDatabaseAway: () => outage.isAway,
    accounts: () => {
      const timeMs = clock.nowMs();
      if (read === undefined || timeMs - read.timeMs >= ACCOUNTS_AGE_MS || timeMs < read.timeMs)
        read = { timeMs, accounts: accountsOf(parts) };
      return withinWait(read.accounts);
    },
  };
}

/** The database as the ledger writes to it, with each commit measured: its size and its time are told together. */
export function measured<Kind extends { readonly ledger: Committing }>(store: Kind, { node }: Metrics): Kind {
  const { ledger } = store;
  const commit: Committing["commit"] = async (operations) => {
    const startMs = performance.now();
    try {
      return await ledger.commit(operations);
    } finally {
      node.ledgerBatch.note(operations.length);
      node.ledgerCommitSeconds.note((performance.now() - startMs) / 1_000);
    }
  };
  return { ...store, ledger: { ...ledger, commit } };
}

function upstreamsOf(routing: Routing): readonly UpstreamGauges[] {
  const nowMs = routing.nowMs();
  return [...routing.table.upstreams.values()].map(({ id, health }) => ({
    upstream: id,
    isUp: health.state(nowMs) === "healthy",
    running: health.running,
  }));
}

/** Those that exist. Where the database is away nothing is told, which an alert on absence finds. */
async function accountsOf({ store, ledger, settings, clock }: NodeReadingParts): Promise<AccountGauges[]> {
  const told: AccountGauges[] = [];
  for (const account of settings.metrics.accounts) {
    const [row, balance] = await Promise.all([store.accounts.get(account), store.ledger.balance(account)]);
    if (row === undefined || balance === undefined) continue;
    const { availableNanos, heldNanos } = balance;
    told.push({ account, availableNanos, heldNanos, budgets: await budgetsOf(row, ledger, clock.nowMs()) });
  }
  return told;
}

async function budgetsOf({ id, budgets }: AccountRow, ledger: Ledger, nowMs: number): Promise<BudgetGauges[]> {
  const today = dayOf(nowMs);
  const all = [
    { period: "day", limitNanos: budgets.budgetDayNanos, fromDay: today },
    { period: "month", limitNanos: budgets.budgetMonthNanos, fromDay: `${today.slice(0, 7)}-01` },
    { period: "total", limitNanos: budgets.budgetTotalNanos, fromDay: FIRST_DAY },
  ] as const;
  const told: BudgetGauges[] = [];
  for (const { period, limitNanos, fromDay } of all) {
    if (limitNanos === 0n) continue;
    const { total } = await ledger.requests.summarize(id, { fromDay, toDay: today }, { size: 1, token: "" });
    told.push({ period, limitNanos, usedNanos: total.costNanos });
  }
  return told;
}

function withinWait(reading: Promise<readonly AccountGauges[]>): Promise<readonly AccountGauges[]> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve([]), ACCOUNTS_WAIT_MS).unref();
    reading.then(resolve, () => resolve([])).finally(() => clearTimeout(timer));
  });
}
