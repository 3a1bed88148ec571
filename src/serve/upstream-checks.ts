/** Checks upstreams to which no request goes, so that operators hear of a dead spare before a client needs it. */
import { enumWord } from "../api/descriptors.js";
import { UpstreamTestResult } from "../api/index.js";
import type { UpstreamSettings } from "../config/settings.js";
import type { Coordination } from "../coordination/coordination.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Log } from "../observe/log.js";
import type { UpstreamBoard } from "../routing/catalog.js";
import type { ServedUpstream } from "../routing/model.js";
import type { Routing } from "../routing/routing.js";
import type { CoreOptions } from "./core.js";
import { ServerReports } from "./server-reports.js";
import { sharedUpstreams } from "./upstream-orders.js";
import type { SettingsKeeper } from "./settings-keeper.js";

const LOOK_MS = 15_000;
const DEFAULT_LIST_MS = 600_000;
/** So many run at once; the others wait for a later look. */
const RUNNING_MAX = 4;
const ANSWERED: ReadonlySet<UpstreamTestResult> = new Set([
  UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL,
  UpstreamTestResult.UPSTREAM_TEST_RESULT_UNTESTED,
]);

export interface UpstreamCheckOptions {
  readonly settings: () => readonly UpstreamSettings[];
  readonly served: () => ReadonlyMap<string, ServedUpstream>;
  readonly board: Pick<UpstreamBoard, "test">;
  /** The routes' monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  readonly onChecked: (upstream: string, result: UpstreamTestResult) => void;
  readonly log: Pick<Log, "warn">;
}

/** What was seen of an upstream; times are of the routes' clock, in milliseconds. */
interface Seen {
  /** Of the attempt that began last. */
  token: number;
  /** Since when no attempt began. */
  quietSinceMs: number;
  listedMs: number;
  calledMs: number;
}

export interface UpstreamParts {
  readonly routing: Routing;
  readonly coordination: Coordination;
  readonly settings: Pick<SettingsKeeper, "upstreams" | "refresh">;
  readonly ledger: Pick<Ledger, "lease">;
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
}

/** The upstreams as this node shows them to operators, and checks them from now on. */
export function startUpstreams(
  { routing, coordination, settings, ledger, nowMs }: UpstreamParts,
  { metrics, log }: Pick<CoreOptions, "metrics" | "log">,
): { readonly board: UpstreamBoard; close(): Promise<void> } {
  const board = sharedUpstreams(routing, coordination, { nodeId: () => ledger.lease.nodeId, dateMs: nowMs });
  const checks = new UpstreamChecks({
    settings: () => settings.upstreams,
    served: () => routing.table.upstreams,
    board,
    nowMs: () => routing.nowMs(),
    onChecked: (upstream, result) =>
      metrics.upstreamChecks.add(upstream, enumWord("tollgate.v1.UpstreamTestResult", result)),
    log,
  });
  checks.start();
  const reports = new ServerReports({
    settings: () => settings.upstreams,
    table: () => routing.table,
    nowMs: () => routing.nowMs(),
    dateMs: nowMs,
    onFacts: () => settings.refresh(),
    log,
  });
  reports.start();
  return {
    board,
    close: () => {
      reports.close();
      return checks.close();
    },
  };
}

export class UpstreamChecks {
  /** An upstream that is connected anew is another one. */
  readonly #seen = new WeakMap<ServedUpstream, Seen>();
  readonly #running = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: UpstreamCheckOptions) {}

  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  /** Begins the checks that are due. */
  look(): void {
    const served = this.options.served();
    for (const { id, checks } of this.options.settings()) {
      const upstream = served.get(id);
      // What runs inside the process is always there, and a drained one is the operator's own work.
      if (upstream === undefined || upstream.family.connect !== undefined || upstream.health.isDrained) continue;
      const seen = this.#see(upstream);
      if (this.#running.has(id) || this.#running.size >= RUNNING_MAX) continue;
      const due = this.#due(upstream, seen, { listMs: checks?.listMs ?? DEFAULT_LIST_MS, callMs: checks?.callMs ?? 0 });
      if (due !== undefined) void this.#check(upstream, seen, due === "list");
    }
  }

  #see(upstream: ServedUpstream): Seen {
    const { health } = upstream;
    const nowMs = this.options.nowMs();
    const seen = this.#seen.get(upstream) ?? {
      token: health.latestToken,
      quietSinceMs: nowMs,
      listedMs: nowMs,
      calledMs: nowMs,
    };
    this.#seen.set(upstream, seen);
    if (health.latestToken !== seen.token || health.running > 0) seen.quietSinceMs = nowMs;
    seen.token = health.latestToken;
    return seen;
  }

  /** A call reads the list as well. One that another node made a while ago need not be paid for again. */
  #due(
    { health, family }: ServedUpstream,
    { quietSinceMs, listedMs, calledMs }: Seen,
    { listMs, callMs }: { readonly listMs: number; readonly callMs: number },
  ): "call" | "list" | undefined {
    const nowMs = this.options.nowMs();
    const isEjected = health.ejections(nowMs).length > 0;
    const provenMs = isEjected ? calledMs : Math.max(calledMs, quietSinceMs, health.provenMs);
    if (callMs > 0 && nowMs - provenMs >= callMs) return "call";
    const hasList = listMs > 0 && family.modelsPath !== undefined;
    return hasList && nowMs - Math.max(quietSinceMs, listedMs) >= listMs ? "list" : undefined;
  }

  async #check(upstream: ServedUpstream, seen: Seen, isListOnly: boolean): Promise<void> {
    const { board, onChecked, nowMs, log } = this.options;
    const { id, health } = upstream;
    this.#running.add(id);
    seen.listedMs = nowMs();
    if (!isListOnly) seen.calledMs = nowMs();
    const before = health.lastCheck?.result;
    try {
      const { result, problem } = await board.test(id, isListOnly);
      onChecked(id, result);
      // A check never ejects: a list proves little, and a client's request finds out by itself.
      if (!ANSWERED.has(result) && result !== before)
        log.warn({ upstream: id, problem }, "a check found that an upstream does not serve");
    } catch (err) {
      // It is no longer in the settings.
      log.warn({ upstream: id, err }, "an upstream could not be checked");
    } finally {
      this.#running.delete(id);
      seen.token = health.latestToken;
    }
  }
}
