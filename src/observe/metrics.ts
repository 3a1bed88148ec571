/** What Prometheus reads. No label names a key, nor an account that the settings do not name for it. */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { SECONDS_BOUNDS, SHORT_SECONDS_BOUNDS } from "../base/distribution.js";
import { tellCacheSavings } from "./cache-savings.js";
import { ModelCounts } from "./model-counts.js";
import { NodeMetrics } from "./node-metrics.js";
import { Tally, Timing } from "./tally.js";
import { AFFINITY_STATES } from "../api/affinity.js";
import { approximateUsd } from "../base/money.js";

/** An upstream, or one model there, that is ejected. */
export interface UpstreamEjection {
  readonly upstream: string;
  /** Empty where it is the whole upstream. */
  readonly model: string;
  readonly cause: string;
}

/** Which settings file is in force, and since when. */
export interface SettingsInForce {
  /** The first digits of its hash. */
  readonly version: string;
  readonly acceptTimeMs: number;
}

/** What nodes share, and how this node stands to it. */
export interface CoordinationGauges {
  readonly driver: string;
  readonly degraded: string | undefined;
  readonly nodeCount: number;
}

const AFFINITY_IS =
  "Input tokens of requests that belong to a session, by affinity (`kept`, `new` or `moved`) and by whether the " +
  "upstream read them from its prompt cache.";
const NO_LEASES = { count: 0, restNanos: 0n };

export class Metrics {
  readonly registry = new Registry();
  readonly httpRequests = new Tally("tollgate_http_requests_total", "HTTP requests, by route and status.", [
    "route",
    "status",
  ]);
  readonly httpSeconds = new Timing(
    "tollgate_http_request_seconds",
    "Duration of HTTP requests.",
    ["route"],
    SECONDS_BOUNDS,
  );
  readonly #models = new Map<string, ModelCounts>();
  readonly overageUsd = this.#counter(
    "tollgate_overage_usd_total",
    "What requests cost beyond the money of their accounts, in USD; the operator pays it.",
    [],
  );
  readonly firstTokenSeconds = new Timing(
    "tollgate_first_token_seconds",
    "Time to the first part of an answer, by the upstream that gave it.",
    ["model", "upstream"],
    SECONDS_BOUNDS,
  );
  readonly overheadSeconds = new Timing(
    "tollgate_overhead_seconds",
    "Time that the gateway adds before the upstream: from a request's arrival in the core to its first attempt.",
    ["model", "upstream"],
    SHORT_SECONDS_BOUNDS,
  );
  readonly generationSeconds = new Timing(
    "tollgate_generation_seconds",
    "Duration of requests to models, from arrival in the core to settlement.",
    ["model", "upstream"],
    SECONDS_BOUNDS,
  );
  readonly aliasRequests = new Tally(
    "tollgate_alias_requests_total",
    "Admitted requests to aliases, by their models.",
    ["alias", "model"],
  );
  readonly unpricedModels = this.#counter(
    "tollgate_unpriced_models_total",
    "Requests for models that a wildcard does not serve because their price or limits are not known.",
    ["wildcard"],
  );
  readonly refusals = new Tally(
    "tollgate_refusals_total",
    "Calls that were refused or failed, management calls included, by reason and HTTP status.",
    ["reason", "status"],
  );
  readonly attempts = new Tally(
    "tollgate_upstream_attempts_total",
    "Attempts at upstreams, by result: `ok`, or the reason of the failure.",
    ["upstream", "result"],
  );
  readonly upstreamChecks = new Tally(
    "tollgate_upstream_checks_total",
    "Checks of upstreams to which no request went, by result.",
    ["upstream", "result"],
  );
  readonly ejections = new Tally("tollgate_upstream_ejections_total", "Ejections of upstreams, by cause.", [
    "upstream",
    "cause",
  ]);
  readonly refusedAsOurs = new Tally(
    "tollgate_upstream_refused_as_ours_total",
    "Requests that an upstream refused with 402, 403 or a message that blames the gateway's credential or account.",
    ["upstream", "model"],
  );
  /** What is of the node itself. */
  readonly node: NodeMetrics;
  /** What is ejected now; read when Prometheus asks. */
  readEjections: () => readonly UpstreamEjection[] = () => [];
  /** Undefined where there is no file; read when Prometheus asks. */
  readSettings: () => SettingsInForce | undefined = () => undefined;
  /** Undefined where this node shares nothing; read when Prometheus asks. */
  readCoordination: () => CoordinationGauges | undefined = () => undefined;
  readonly redisSeconds = new Histogram({
    name: "tollgate_redis_seconds",
    help: "Duration of Redis commands.",
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
    registers: [this.registry],
  });
  readonly redisTroubles = this.#counter(
    "tollgate_redis_troubles_total",
    "Times that this node found Redis slow or unreachable and switched to its own share of the limits.",
    ["trouble"],
  );
  readonly recordsDropped = this.#counter(
    "tollgate_records_dropped_total",
    "Records of requests that were not stored, by cause: `bounded` (too many refusals), `lost` (could not be written), `untold` (a front end did not reach its core).",
    ["cause"],
  );
  readonly contentDropped = this.#counter(
    "tollgate_content_dropped_total",
    "Requests whose content could not be stored: too much came at once, or writing failed.",
    [],
  );
  readonly stripeEvents = this.#counter(
    "tollgate_stripe_events_total",
    "Events received at /api/v1/stripe-events, by outcome: `taken` (booked), `ignored`, `refused` (not from Stripe), `failed` (Stripe sends it again).",
    ["outcome"],
  );
  readonly redisFailures = this.#counter("tollgate_redis_failures_total", "Redis commands that failed.", []);
  readonly decidedAlone = this.#counter(
    "tollgate_decided_alone_total",
    "Requests checked against this node's own share of the limits while Redis was unavailable.",
    [],
  );
  readonly unknownMembers = new Tally(
    "tollgate_unknown_members_total",
    "Members of request bodies that the gateway does not know.",
    ["upstream", "member"],
  );
  /** How many requests to models run now. */
  running = 0;
  readonly usageDoubts = this.#counter(
    "tollgate_usage_doubts_total",
    "Answers whose upstream reported no usage, or an implausible one.",
    ["upstream", "doubt"],
  );
  readonly unbilledTokens = this.#counter(
    "tollgate_unbilled_tokens_total",
    "Tokens that no client pays for: those of an attempt that failed or was replaced, of a free answer, or of an answer whose client disconnected.",
    ["upstream"],
  );
  readonly fallbacks = this.#counter(
    "tollgate_fallbacks_total",
    "Requests that another model was asked to answer, because the upstreams of a model failed or the request was too long for it.",
    ["model", "fallback"],
  );
  readonly readOn = this.#counter(
    "tollgate_read_on_total",
    "Answers that the gateway reads on for their usage after the client disconnected, by result: `begun`, `ended`, or `refused` (cut, because too many were running).",
    ["upstream", "result"],
  );
  readonly readOnRunning = this.#gauge(
    "tollgate_read_on_running",
    "Answers that the gateway now reads on for their usage after the client disconnected.",
  );
  readonly settlesLost = this.#counter(
    "tollgate_settles_lost_total",
    "Settlements that the ledger gave up. Recovery resolves their holds, and may charge less.",
    [],
  );
  readonly settlesQueued = this.#gauge("tollgate_settles_queued", "Settlements waiting for the ledger.");
  readonly lateRecords = this.#counter(
    "tollgate_late_records_total",
    "Requests that ran on a money lease, lost their hold, and were settled nevertheless.",
    [],
  );
  readonly lateOverageUsd = this.#counter(
    "tollgate_late_overage_usd_total",
    "What requests in `tollgate_late_records_total` cost beyond the money of their accounts, in USD; the operator pays it.",
    [],
  );
  /** Nodes that serve by other settings than the ones accepted last; read when Prometheus asks. */
  readDiffering: () => number = () => 0;
  /** Requests whose charge is only in this node's journal; read when Prometheus asks. */
  readJournaled: () => number = () => 0;
  /** Requests that wait for their start; read when Prometheus asks. */
  readWaiting: () => number = () => 0;
  /** This node's leases of money, and what is left of them together; read when Prometheus asks. */
  readLeases: () => { readonly count: number; readonly restNanos: bigint } = () => NO_LEASES;
  readonly answerKeys = this.#gauge("tollgate_idempotency_keys", "Idempotency-Keys that are stored.");
  readonly answerBytes = new Gauge({
    name: "tollgate_kept_answer_bytes",
    help: "Size of the answers stored for retries and resumed streams, in memory or on disk.",
    labelNames: ["place"],
    registers: [this.registry],
  });
  readonly answersEvicted = this.#counter(
    "tollgate_kept_answers_evicted_total",
    "Stored answers removed before their time because space ran out.",
    [],
  );
  readonly answersLost = this.#counter("tollgate_kept_answers_lost_total", "Answers that could not be stored.", []);
  readonly orphans = this.#counter(
    "tollgate_orphans_total",
    "Holds left behind by a crash, by how recovery resolved them: `settled` or `voided`.",
    ["end"],
  );

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.node = new NodeMetrics(this.registry);
    this.registry.registerMetric(this.httpRequests);
    this.registry.registerMetric(this.httpSeconds);
    this.registry.registerMetric(this.attempts);
    this.registry.registerMetric(this.upstreamChecks);
    this.registry.registerMetric(this.unknownMembers);
    this.registry.registerMetric(this.firstTokenSeconds);
    this.registry.registerMetric(this.overheadSeconds);
    this.registry.registerMetric(this.generationSeconds);
    this.registry.registerMetric(this.aliasRequests);
    this.registry.registerMetric(this.refusals);
    this.registry.registerMetric(this.ejections);
    this.registry.registerMetric(this.refusedAsOurs);
    // A rule looks for an increase, and sees none in a series that begins with its first.
    for (const cause of ["bounded", "lost", "untold"]) this.recordsDropped.inc({ cause }, 0);
    this.#ejections();
    this.#settings();
    this.#gauge(
      "tollgate_redis_away",
      "1 while Redis is unavailable and this node uses its own share of the limits.",
      () => (this.readCoordination()?.degraded === undefined ? 0 : 1),
    );
    this.#gauge(
      "tollgate_nodes",
      "Nodes that share limits, as last known to this node.",
      () => this.readCoordination()?.nodeCount ?? 1,
    );
    const differing = "Nodes of this database whose settings differ from those that a node accepted last.";
    this.#gauge("tollgate_nodes_differing", differing, () => this.readDiffering());
    const journaled =
      "Requests recorded only in this node's journal: they ran on money leases while the database was unavailable.";
    this.#gauge("tollgate_journaled_requests", journaled, () => this.readJournaled());
    this.#gauge("tollgate_leases", "Money leases that this node has.", () => this.readLeases().count);
    this.#gauge("tollgate_leased_usd", "Money left in this node's leases, in USD.", () =>
      approximateUsd(this.readLeases().restNanos),
    );
    const waiting = "Requests waiting to start because the process is overloaded.";
    this.#gauge("tollgate_requests_waiting", waiting, () => this.readWaiting());
    this.#gauge("tollgate_generations_running", "Requests to models running now.", () => this.running);
    this.#read(
      "tollgate_generations_total",
      "Admitted requests to models, by how they ended: `finished`, or the reason.",
      "reason",
      (counts) => counts.ends,
    );
    this.#read(
      "tollgate_tokens_total",
      "Tokens of all requests, free ones included.",
      "component",
      (counts) => counts.tokens,
    );
    this.#read(
      "tollgate_units_total",
      "What requests used in other units than tokens, such as `search_unit`.",
      "unit",
      (counts) => counts.units,
    );
    this.#read(
      "tollgate_usage_source_total",
      "Requests by where their usage comes from, such as `reported` by the upstream or `counted` by the gateway.",
      "source",
      (counts) => counts.sources,
    );
    this.#affinity();
    tellCacheSavings(this.registry, this.#models);
    this.#cost();
  }

  /** The counts of one model; plain numbers, which cost a request nothing and are read when Prometheus asks. */
  model(id: string): ModelCounts {
    let counts = this.#models.get(id);
    if (counts === undefined) this.#models.set(id, (counts = new ModelCounts()));
    return counts;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  #cost(): void {
    const models = this.#models;
    const counter = new Counter({
      name: "tollgate_cost_usd_total",
      help: "Charges to accounts, in USD.",
      labelNames: ["model"],
      registers: [this.registry],
      collect() {
        counter.reset();
        for (const [model, { costNanos }] of models) counter.inc({ model }, approximateUsd(costNanos));
      },
    });
  }

  #affinity(): void {
    const models = this.#models;
    const counter = new Counter({
      name: "tollgate_affinity_input_tokens_total",
      help: AFFINITY_IS,
      labelNames: ["model", "affinity", "cached"],
      registers: [this.registry],
      collect() {
        counter.reset();
        for (const [model, { affinityTokens }] of models)
          for (const affinity of AFFINITY_STATES) {
            const counts = affinityTokens[affinity];
            if (counts === undefined) continue;
            counter.inc({ model, affinity, cached: "true" }, counts.cacheRead);
            counter.inc({ model, affinity, cached: "false" }, counts.other);
          }
      },
    });
  }

  #ejections(): void {
    const read = (): readonly UpstreamEjection[] => this.readEjections();
    const gauge = new Gauge({
      name: "tollgate_upstream_ejected",
      help: "1 for each upstream, or model of an upstream, that is ejected for all accounts or for some.",
      labelNames: ["upstream", "model", "cause"],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { upstream, model, cause } of read()) gauge.set({ upstream, model, cause }, 1);
      },
    });
  }

  #settings(): void {
    const read = (): SettingsInForce | undefined => this.readSettings();
    const gauge = new Gauge({
      name: "tollgate_settings_accept_seconds",
      help: "When the current settings file was accepted, as a Unix time; `version` is the start of its hash.",
      labelNames: ["version"],
      registers: [this.registry],
      collect() {
        this.reset();
        const settings = read();
        if (settings !== undefined) gauge.set({ version: settings.version }, settings.acceptTimeMs / 1000);
      },
    });
  }

  #read(name: string, help: string, label: string, of: (counts: ModelCounts) => ReadonlyMap<string, number>): void {
    const models = this.#models;
    const counter = new Counter({
      name,
      help,
      labelNames: ["model", label],
      registers: [],
      collect() {
        this.reset();
        for (const [model, counts] of models) {
          for (const [value, count] of of(counts)) this.inc({ model, [label]: value }, count);
        }
      },
    });
    this.registry.registerMetric(counter);
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  #gauge(name: string, help: string, read?: () => number): Gauge {
    const collect = read && ((gauge: Gauge): void => gauge.set(read()));
    return new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        collect?.(this);
      },
    });
  }
}
