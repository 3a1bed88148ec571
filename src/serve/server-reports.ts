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
/** So many servers are read at once; the others wait for the next time. */
const RUNNING_MAX = 16;

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
  readonly #running = new Set<ServedUpstream>();
  /** When an address that answered with an error is asked again. */
  readonly #absentUntilMs = new WeakMap<ServedUpstream, Map<ReportSource, number>>();
  /** The warnings that were logged last. */
  readonly #warned = new WeakMap<ServedUpstream, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ServerReportOptions) {}

  start(): void {
    this.#timer = setInterval(() => void this.look(), READ_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Reads the servers of all upstreams that report anything. Resolves after the last one. Never rejects. */
  async look(): Promise<void> {
    const { upstreams } = this.options.table();
    const reading: Promise<boolean>[] = [];
    for (const { id, checks } of this.options.settings()) {
      const served = upstreams.get(id);
      if (served?.family.reports === undefined || served.health.isDrained || checks?.listMs === 0) continue;
      if (!this.#running.has(served) && this.#running.size < RUNNING_MAX) reading.push(this.#read(served));
    }
    const changed = await Promise.all(reading);
    if (!changed.includes(true)) return;
    await this.options.onFacts().catch((err: unknown) => {
      this.options.log.warn({ err }, "what servers reported about themselves could not be used");
    });
    for (const served of this.options.table().upstreams.values()) this.#warn(served);
  }

  /** True if the server reported other facts than before. */
  async #read(served: ServedUpstream): Promise<boolean> {
    const { health, family } = served;
    this.#running.add(served);
    const ownRunning = health.running;
    try {
      const parts = await Promise.all((family.reports ?? []).map((source) => this.#ask(served, source)));
      const known = parts.filter((part) => part !== undefined);
      // The last report ages: a server that does not answer has no load that anybody knows.
      if (known.length === 0) return false;
      const report: ServerReport = Object.assign({}, ...known);
      const before = health.server;
      const { nowMs, dateMs } = this.options;
      health.server = new ServerState(report, nowMs(), new Date(dateMs()), ownRunning);
      return before === undefined || !before.hasSameFacts(health.server);
    } finally {
      this.#running.delete(served);
    }
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
