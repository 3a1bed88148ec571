/**
 * Several processes of the gateway on one machine: this one serves nothing, and keeps so many workers that do. They
 * share the ports for clients, which Node's `cluster` gives them; each is a node of its own to the others.
 */
import cluster, { type Worker } from "node:cluster";
import { formatAddress } from "./config/address.js";
import { ConfigError } from "./config/config-error.js";
import { type Environment, readEnvironment } from "./config/environment.js";
import { createLog, type Log } from "./observe/log.js";

/** A worker that ended is followed by another after so long, twice as long each time, unless it had lived a while. */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 10_000;
const LIVED_MS = 60_000;
/** What a worker says to the process that keeps it once it serves. */
const SERVING = "serving";

/** True where this process serves by workers; then it has done so until it was told to stop. */
export async function serveByWorkers(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (!cluster.isPrimary) return false;
  const environment = readEnvironment(env);
  if (environment.workers === 1) return false;
  refuseAlone(environment);
  const log = createLog(environment.logLevel);
  process.exitCode = await new Workers(environment, log).run();
  log.flush();
  return true;
}

/** Tells the process that keeps this worker, where there is one, that it serves. */
export function announceServing(): void {
  if (cluster.isWorker) process.send?.(SERVING);
}

/** Lets go of the process that keeps this worker, which would keep this one alive. */
export function leaveWorkers(): void {
  if (cluster.isWorker && process.connected) process.disconnect();
}

/** A terminal's interrupt reaches every process in it. A worker is told to stop by the one that keeps it. */
export function stopSignals(): readonly NodeJS.Signals[] {
  return cluster.isWorker ? ["SIGTERM"] : ["SIGTERM", "SIGINT"];
}

/** A front end has no state, and nodes share theirs in PostgreSQL and Redis. */
function refuseAlone({ workers, core, databaseUrl, redis }: Environment): void {
  if (core !== undefined || (databaseUrl !== undefined && redis !== undefined)) return;
  const missing = databaseUrl === undefined ? "TOLLGATE_DATABASE_URL and TOLLGATE_REDIS_URL" : "TOLLGATE_REDIS_URL";
  throw new ConfigError([
    `TOLLGATE_WORKERS="${workers}" needs ${missing} as well, by which the workers share their state; the embedded store` +
      " serves one process, so leave TOLLGATE_WORKERS out with it",
  ]);
}

class Workers {
  readonly #running = new Map<number, Worker>();
  readonly #restartMs = new Map<number, number>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #stopping = false;
  /** The worst that a worker ended with while all were told to stop. */
  #exitCode = 0;
  #ended: (exitCode: number) => void = () => undefined;

  constructor(
    private readonly environment: Environment,
    private readonly log: Log,
  ) {}

  /** Resolves with the code to exit with once all have ended. */
  run(): Promise<number> {
    process.on("SIGHUP", () => this.#tell("SIGHUP"));
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => this.#stop());
    return new Promise((resolve) => {
      this.#ended = resolve;
      // The first one makes what a first start makes, and says what is wrong with the settings, once.
      this.#start(0, () => {
        for (let index = 1; index < this.environment.workers; index += 1) this.#start(index);
      });
    });
  }

  #start(index: number, onFirst?: () => void): void {
    const startMs = performance.now();
    let isServing = false;
    const worker = cluster.fork(this.#environmentOf(index));
    this.#running.set(index, worker);
    worker.on("message", (message) => {
      if (message !== SERVING || isServing) return;
      isServing = true;
      this.log.info({ worker: index, pid: worker.process.pid }, "a worker serves");
      if (!this.#stopping) onFirst?.();
    });
    worker.on("exit", (code, signal) => {
      this.#running.delete(index);
      if (onFirst !== undefined && !isServing) this.#end(index, code ?? 1);
      else if (this.#stopping) this.#end(index, code ?? 1);
      else this.#startLater(index, { code, signal, livedMs: performance.now() - startMs });
    });
  }

  /** The operator's address is each worker's own, from the first one's port on. */
  #environmentOf(index: number): Record<string, string> {
    const { admin } = this.environment;
    if (admin === undefined || admin.port === 0) return {};
    return { TOLLGATE_ADMIN: formatAddress({ ...admin, port: admin.port + index }) };
  }

  #startLater(index: number, end: { readonly code: number; readonly signal: string; readonly livedMs: number }): void {
    const before = end.livedMs >= LIVED_MS ? undefined : this.#restartMs.get(index);
    const waitMs = before === undefined ? RESTART_FIRST_MS : Math.min(before * 2, RESTART_LAST_MS);
    this.#restartMs.set(index, waitMs);
    const { code, signal } = end;
    this.log.error({ worker: index, code, signal, restart_ms: waitMs }, "a worker ended; another takes its place");
    const start = (): void => {
      this.#timers.delete(index);
      this.#start(index);
    };
    this.#timers.set(index, setTimeout(start, waitMs));
  }

  #stop(): void {
    this.#stopping = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#tell("SIGTERM");
    if (this.#running.size === 0) this.#ended(this.#exitCode);
  }

  #end(index: number, code: number): void {
    this.#exitCode = Math.max(this.#exitCode, code);
    if (code !== 0) this.log.error({ worker: index, code }, "a worker could not serve, or did not end well");
    if (this.#running.size === 0) this.#ended(this.#exitCode);
  }

  #tell(signal: NodeJS.Signals): void {
    for (const { process: child } of this.#running.values()) child.kill(signal);
  }
}
