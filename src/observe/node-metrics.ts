/** What Prometheus reads of the node itself: its build, its threads, its ledger, its settings and its upstreams. */
import { performance } from "node:perf_hooks";
import { Counter, Gauge, type Registry } from "prom-client";
import { Distribution, SHORT_SECONDS_BOUNDS } from "../base/distribution.js";
import { Timing } from "./tally.js";
import { approximateUsd } from "../base/money.js";

const BATCH_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** How an upstream stands. */
export interface UpstreamGauges {
  readonly upstream: string;
  /** False where it, or each model there that was asked for, is ejected. */
  readonly isUp: boolean;
  /** Requests that run there. */
  readonly running: number;
}

/** What waits for a thread. */
export interface QueueGauges {
  readonly worker: "ledger" | "reading" | "answers" | "counting";
  readonly jobs: number;
}

/** A budget of an account, and how much of it is used, in nano-USD. */
export interface BudgetGauges {
  readonly period: "day" | "month" | "total";
  readonly limitNanos: bigint;
  readonly usedNanos: bigint;
}

/** The money of one account that the settings name. */
export interface AccountGauges {
  readonly account: string;
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
  readonly budgets: readonly BudgetGauges[];
}

/** What is asked when Prometheus asks. */
export interface NodeReadings {
  openHolds(): number;
  upstreams(): readonly UpstreamGauges[];
  queues(): readonly QueueGauges[];
  /** What answers that are not streamed take, while they come and until they are settled. */
  answerBytes(): number;
  /** How far the machine's clock is ahead of the time, and how long ago the database was asked for it. */
  clock(): { readonly skewMs: number; readonly lookAgeMs: number };
  accounts(): Promise<readonly AccountGauges[]>;
  /** True while the ledger's database takes no writes. */
  isDatabaseAway(): boolean;
}

const NOTHING: NodeReadings = {
  openHolds: () => 0,
  upstreams: () => [],
  queues: () => [],
  answerBytes: () => 0,
  clock: () => ({ skewMs: 0, lookAgeMs: 0 }),
  accounts: () => Promise.resolve([]),
  isDatabaseAway: () => false,
};

type Series<Label extends string> = { readonly labels: Readonly<Record<Label, string>>; readonly value: number };

export class NodeMetrics {
  readonly ledgerBatch = new Timing(
    "tollgate_ledger_batch_operations",
    "Operations in one commit of the ledger.",
    [],
    BATCH_BOUNDS,
  );
  readonly ledgerCommitSeconds = new Timing(
    "tollgate_ledger_commit_seconds",
    "Duration of a commit of the ledger, until it is durable.",
    [],
    SHORT_SECONDS_BOUNDS,
  );
  readonly ledgerSyncSeconds = new Timing(
    "tollgate_ledger_sync_seconds",
    "Duration of the disk syncs of commits; SQLite only.",
    [],
    SHORT_SECONDS_BOUNDS,
  );
  readonly #registry: Registry;
  readonly #reloads: Counter<"result">;
  readonly #reloadIsGood: Gauge;
  readonly #proofHolds: Gauge;
  /** As probes are answered, but for a process that was told to stop; asked when Prometheus asks. */
  isReady: () => Promise<boolean> = () => Promise.resolve(true);
  #readings: NodeReadings = NOTHING;

  constructor(registry: Registry) {
    this.#registry = registry;
    for (const timing of [this.ledgerBatch, this.ledgerCommitSeconds, this.ledgerSyncSeconds])
      registry.registerMetric(timing);
    this.#reloads = new Counter({
      name: "tollgate_settings_reloads_total",
      help: "Reads of the settings file, the first one included, by result: `accepted` or `refused`.",
      labelNames: ["result"],
      registers: [registry],
    });
    this.#reloadIsGood = new Gauge({
      name: "tollgate_settings_last_reload_successful",
      help: "1 if the settings file was accepted when it was last read, 0 if it was refused.",
      registers: [registry],
    });
    this.#reloadIsGood.set(1);
    this.#proofHolds = new Gauge({
      name: "tollgate_ledger_proof_holds",
      help: "0 if the last verification of the ledger on this node found an error, else 1.",
      registers: [registry],
    });
    this.#proofHolds.set(1);
    this.#readiness();
    this.#loop();
    this.#work();
    this.#clock();
    this.#upstreams();
    this.#accounts();
  }

  /** Says which build runs. */
  build(version: string): void {
    const labels = { version, node: process.versions.node };
    this.#gauge(
      "tollgate_build_info",
      "Always 1; the labels are the versions of the program and of Node.",
      ["version", "node"],
      () => [{ labels, value: 1 }],
    );
  }

  /** A proof of the ledger ended at this node. */
  proved(holds: boolean): void {
    this.#proofHolds.set(holds ? 1 : 0);
  }

  /** Where a thread notes how long the disk takes. */
  watchSyncs(): Distribution {
    const seconds = Distribution.ofThreads(SHORT_SECONDS_BOUNDS);
    this.ledgerSyncSeconds.watch(seconds);
    return seconds;
  }

  /** From now on these are asked. */
  attach(readings: NodeReadings): void {
    this.#readings = readings;
  }

  /** The settings file was read, and is in force or was refused. */
  reloaded(isGood: boolean): void {
    this.#reloads.inc({ result: isGood ? "accepted" : "refused" });
    this.#reloadIsGood.set(isGood ? 1 : 0);
  }

  #loop(): void {
    const counter = new Counter({
      name: "tollgate_event_loop_active_seconds_total",
      help: "Time in which the event loop was busy; its rate is the utilization.",
      registers: [this.#registry],
      collect() {
        counter.reset();
        counter.inc(performance.eventLoopUtilization().active / 1_000);
      },
    });
  }

  #work(): void {
    this.#gauge("tollgate_holds_open", "Holds of requests that this node is running or settling.", [], () => [
      { labels: {}, value: this.#readings.openHolds() },
    ]);
    const help = "Memory used by non-streamed answers above 64 KiB, until they are settled.";
    this.#gauge("tollgate_answer_bytes", help, [], () => [{ labels: {}, value: this.#readings.answerBytes() }]);
    this.#gauge("tollgate_worker_queue_jobs", "Jobs waiting for a worker thread.", ["worker"], () =>
      this.#readings.queues().map(({ worker, jobs }) => ({ labels: { worker }, value: jobs })),
    );
  }

  #readiness(): void {
    const ready = "1 if `/readyz` answers 200, else 0; a shutdown alone does not change it to 0.";
    this.#gauge("tollgate_ready", ready, [], async () => [{ labels: {}, value: (await this.isReady()) ? 1 : 0 }]);
    const away = "1 while the ledger's database accepts no writes; paid calls without a money lease get 503.";
    this.#gauge("tollgate_database_away", away, [], () => [
      { labels: {}, value: this.#readings.isDatabaseAway() ? 1 : 0 },
    ]);
  }

  #clock(): void {
    const skew =
      "How far the machine's clock is ahead of the database's clock, which decides days and budgets; negative: behind.";
    this.#gauge("tollgate_clock_skew_seconds", skew, [], () => [
      { labels: {}, value: this.#readings.clock().skewMs / 1_000 },
    ]);
    const age = "Time since the node last read the database's clock; it reads the clock every ten seconds.";
    this.#gauge("tollgate_clock_look_age_seconds", age, [], () => [
      { labels: {}, value: this.#readings.clock().lookAgeMs / 1_000 },
    ]);
  }

  #upstreams(): void {
    const help = "1 if requests are sent to the upstream; 0 if it, or every model in use there, is ejected.";
    this.#gauge("tollgate_upstream_up", help, ["upstream"], () =>
      this.#readings.upstreams().map(({ upstream, isUp }) => ({ labels: { upstream }, value: isUp ? 1 : 0 })),
    );
    this.#gauge("tollgate_upstream_running", "Requests running at the upstream now.", ["upstream"], () =>
      this.#readings.upstreams().map(({ upstream, running }) => ({ labels: { upstream }, value: running })),
    );
  }

  /** Read once for the three, which Prometheus asks for together. */
  #accounts(): void {
    const ofMetrics = "of an account listed in `metrics.accounts`";
    let reading: Promise<readonly AccountGauges[]> = Promise.resolve([]);
    // Metrics are collected in the order of their registration.
    const read = (): Promise<readonly AccountGauges[]> => (reading = this.#readings.accounts());
    this.#gauge("tollgate_account_available_usd", `Available money ${ofMetrics}, in USD.`, ["account"], async () =>
      (await read()).map(({ account, availableNanos }) => ({
        labels: { account },
        value: approximateUsd(availableNanos),
      })),
    );
    this.#gauge(
      "tollgate_account_held_usd",
      `Money ${ofMetrics} that running requests hold, in USD.`,
      ["account"],
      async () =>
        (await reading).map(({ account, heldNanos }) => ({ labels: { account }, value: approximateUsd(heldNanos) })),
    );
    const shares = `Used share of a budget ${ofMetrics}, from 0 to 1.`;
    this.#gauge("tollgate_account_budget_used_ratio", shares, ["account", "period"], async () =>
      (await reading).flatMap(({ account, budgets }) =>
        budgets.map(({ period, limitNanos, usedNanos }) => ({
          labels: { account, period },
          value: Number(usedNanos) / Number(limitNanos),
        })),
      ),
    );
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    read: () => readonly Series<Label>[] | Promise<readonly Series<Label>[]>,
  ): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const series = await read();
        this.reset();
        for (const { labels, value } of series) gauge.set(labels, value);
      },
    });
  }
}
