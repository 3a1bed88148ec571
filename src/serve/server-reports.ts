/** Reads what servers report about themselves, and keeps the last report of each upstream with its health. */
import type { UpstreamSettings } from "../config/settings.js";
import type { ReportSource, ServerReport } from "../families/family.js";
import type { Log } from "../observe/log.js";
import type { ServedUpstream } from "../routing/model.js";
import type { RouteTable } from "../routing/routing.js";
import { contextWarnings, ServerState } from "../routing/server-state.js";
import { exchange } from "../routing/upstream-exchange.js";

const READ_MS = 5_000;
const TIMEOUT_MS = 3_000;
const REPORT_BYTES_MAX = 2 * 1024 * 1024;
/** An address that answered with an error is asked again after so long: many servers do not have each. */
const ABSENT_MS = 600_000;
/** So many servers are read at once. */
const AT_ONCE_MAX = 16;

export interface ServerReportOptions {
  readonly settings: () => readonly UpstreamSettings[];
  readonly table: () => RouteTable;
  /** The routes' monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** The time of day. */
  readonly dateMs: () => number;
  /** A server reported other facts than before: models are made of them. */
  readonly onFacts: () => Promise<void>;
  readonly log: Pick<Log, "warn">;
}

export class ServerReports {
  /** When an address that answered with an error is asked again. */
  readonly #absentUntilMs = new WeakMap<ServedUpstream, Map<ReportSource, number>>();
  /** The warnings that were logged last. */
  readonly #warned = new WeakMap<ServedUpstream, string>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isClosed = false;

  constructor(private readonly options: ServerReportOptions) {}

  start(): void {
    this.#timer = setInterval(() => void this.look(), READ_MS).unref();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  /** Reads the servers of all upstreams that report anything, unless that runs already. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { upstreams } = this.options.table();
    const reporting = this.options.settings().flatMap(({ id, checks }) => {
      const served = upstreams.get(id);
      const isRead = served?.family.reports !== undefined && !served.health.isDrained && checks?.listMs !== 0;
      return isRead ? [served] : [];
    });
    let hasChanged = false;
    for (let start = 0; start < reporting.length; start += AT_ONCE_MAX) {
      const changed = await Promise.all(
        reporting.slice(start, start + AT_ONCE_MAX).map((served) => this.#read(served)),
      );
      hasChanged ||= changed.includes(true);
    }
    this.#isLooking = false;
    if (this.#isClosed) return;
    if (hasChanged) await this.#useFacts();
    for (const served of this.options.table().upstreams.values()) this.#warn(served);
  }

  async #useFacts(): Promise<void> {
    await this.options.onFacts().catch((err: unknown) => {
      this.options.log.warn({ err }, "what servers reported about themselves could not be used");
    });
  }

  /** True if the server reported other facts than before. */
  async #read(served: ServedUpstream): Promise<boolean> {
    const { health, family } = served;
    const ownRunning = health.running;
    const parts = await Promise.all((family.reports ?? []).map((source) => this.#ask(served, source)));
    const known = parts.filter((part) => part !== undefined);
    // The last report ages: a server that does not answer has no load that anybody knows.
    if (known.length === 0) return false;
    const before = health.server;
    // Facts of an address that did not answer this time stay; a load does not.
    const report: ServerReport = Object.assign({ ...before?.report, running: undefined, waiting: undefined }, ...known);
    const { nowMs, dateMs } = this.options;
    health.server = new ServerState(report, nowMs(), new Date(dateMs()), ownRunning);
    return before === undefined || !before.hasSameFacts(health.server);
  }

  /** Undefined where the server does not report there. */
  async #ask(served: ServedUpstream, source: ReportSource): Promise<ServerReport | undefined> {
    const { nowMs } = this.options;
    const absent = this.#absentUntilMs.get(served) ?? new Map<ReportSource, number>();
    this.#absentUntilMs.set(served, absent);
    if ((absent.get(source) ?? Number.NEGATIVE_INFINITY) > nowMs()) return undefined;
    const bounds = { what: source.path, bytesMax: REPORT_BYTES_MAX, timeoutMs: TIMEOUT_MS };
    const { path, under } = source;
    const asked = {
      method: "GET",
      path,
      isOfServer: under === "server",
      headers: served.headers,
      body: undefined,
    } as const;
    try {
      const { status, body } = await exchange(served, { ...asked, ...bounds });
      if (status === 200) return source.read(body);
      absent.set(source, nowMs() + ABSENT_MS);
    } catch {
      // It could not be reached, which requests and checks find out, or it answered with something else.
    }
    return undefined;
  }

  /** Logs each warning once. */
  #warn(served: ServedUpstream): void {
    const warnings = contextWarnings(served, this.options.table().models.values());
    const text = warnings.join("\n");
    if (text === (this.#warned.get(served) ?? "")) return;
    this.#warned.set(served, text);
    for (const problem of warnings)
      this.options.log.warn(
        { upstream: served.id, problem },
        "the settings promise a longer context than the server has",
      );
  }
}
