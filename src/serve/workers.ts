/**
 * Several processes of the gateway on one machine: this one serves nothing, and keeps so many workers that do. They
 * share the ports for clients, which Node's `cluster` gives them; each is a node of its own to the others.
 */
import cluster, { type Worker } from "node:cluster";
import { setTimeout as sleep } from "node:timers/promises";
import { inQuietTurn } from "../base/event-loop/quiet-turn.js";
import { formatAddress } from "../config/listen-address.js";
import { ConfigError } from "../config/config-error.js";
import { type Environment, readEnvironment, WORKER_PART } from "../config/environment.js";
import { createLog, type Log } from "../observe/log.js";

/** A worker that ended is followed by another after so long, twice as long each time, unless it had lived a while. */
const RESTART_FIRST_MS = 100;
const RESTART_LAST_MS = 10_000;
const LIVED_MS = 60_000;
/** What a worker says to the process that keeps it once it serves. */
const SERVING = "serving";
/** What it says when it accepts no more, and how often, and how long at most, it looks whether it was heard. */
const LEAVING = "leaving";
const LEAVING_LOOK_MS = 5;
const LEAVING_MS = 1_000;
/** Where no connection was handed to a worker for so long, the process that keeps it has none left. */
const HANDED_MS = 50;
/** In the place of a worker's number: the process that owns the embedded database, which serves the workers alone. */
const OWNER = -1;

/** The owner of the embedded database, or a worker whose state that one owns. */
export type WorkerPart = "owner" | "owned";

/** Undefined where this process is no worker, or shares its state in PostgreSQL. */
export function workerPart(env: NodeJS.ProcessEnv = process.env): WorkerPart | undefined {
  const part = cluster.isWorker ? env[WORKER_PART] : undefined;
  return part === "owner" || part === "owned" ? part : undefined;
}

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

/**
 * Closes the ports that this worker shares. The process that hands out their connections lets go first: a connection
 * that it had handed to a worker whose port is closed would come back to it, and wait there where no other is left.
 * It hands them out one by one, and those that it still has end with the last worker's port: so they are held here, as
 * `hold` does and counts, until none has come for a while.
 */
export async function leavePorts(hold: () => () => number): Promise<void> {
  if (!cluster.isWorker || !process.connected) return;
  const held = hold();
  const startMs = performance.now();
  for (let seen = { count: held(), ms: startMs }; ; await sleep(LEAVING_LOOK_MS)) {
    const now = { count: held(), ms: performance.now() };
    if (now.count !== seen.count) seen = now;
    if (now.ms - seen.ms >= HANDED_MS || now.ms - startMs >= LEAVING_MS) break;
  }
  process.send?.(LEAVING);
  for (const endMs = performance.now() + LEAVING_MS; performance.now() < endMs; await sleep(LEAVING_LOOK_MS))
    if (cluster.worker?.exitedAfterDisconnect === true) return;
}

/** Lets go of the process that keeps this worker, which would keep this one alive. */
export function leaveWorkers(): void {
  if (cluster.isWorker && process.connected) process.disconnect();
}

/** Nodes on one PostgreSQL share their limits in Redis; a front end has no state. */
function refuseAlone({ workers, core, databaseUrl, redis }: Environment): void {
  if (core !== undefined || databaseUrl === undefined || redis !== undefined) return;
  throw new ConfigError([
    `TOLLGATE_WORKERS="${workers}" needs TOLLGATE_REDIS_URL as well, by which workers on a PostgreSQL share limits and` +
      " changes of keys",
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
      const first = (): void =>
        this.#start(0, () => {
          for (let index = 1; index < this.environment.workers; index += 1) this.#start(index);
        });
      if (this.#hasOwner) this.#start(OWNER, first);
      else first();
    });
  }

  /** The embedded database is one process's. */
  get #hasOwner(): boolean {
    return this.environment.core === undefined && this.environment.databaseUrl === undefined;
  }

  #start(index: number, onFirst?: () => void): void {
    const startMs = performance.now();
    let isServing = false;
    const worker = cluster.fork(this.#environmentOf(index));
    this.#running.set(index, worker);
    worker.on("message", (message) => {
      // With the last one goes the port, and what waits to be accepted on it.
      if (message === LEAVING)
        void inQuietTurn(
          () => 0,
          () => void worker.disconnect(),
        );
      if (message !== SERVING || isServing) return;
      isServing = true;
      const { pid } = worker.process;
      if (index === OWNER) this.log.info({ pid }, "the owner of the workers' database is there");
      else this.log.info({ worker: index, pid }, "a worker serves");
      if (!this.#stopping) onFirst?.();
    });
    worker.on("exit", (code, signal) => {
      this.#running.delete(index);
      const couldNotStart = onFirst !== undefined && !isServing;
      if (couldNotStart) this.#stopping = true;
      // Told to stop before it heeds that, it ends by the signal, and nothing ran in it.
      const toldEarly = signal === "SIGTERM" && !isServing;
      if (this.#stopping) this.#end(index, toldEarly ? 0 : (code ?? 1));
      else this.#startLater(index, { code, signal, livedMs: performance.now() - startMs });
    });
  }

  /** The operator's address is each worker's own, from the first one's port on. */
  #environmentOf(index: number): Record<string, string> {
    if (index === OWNER) return { [WORKER_PART]: "owner" };
    const part = this.#hasOwner ? { [WORKER_PART]: "owned" } : {};
    const { admin } = this.environment;
    if (admin === undefined || admin.port === 0) return part;
    return { ...part, TOLLGATE_ADMIN: formatAddress({ ...admin, port: admin.port + index }) };
  }

  #startLater(index: number, end: { readonly code: number; readonly signal: string; readonly livedMs: number }): void {
    const before = end.livedMs >= LIVED_MS ? undefined : this.#restartMs.get(index);
    const waitMs = before === undefined ? RESTART_FIRST_MS : Math.min(before * 2, RESTART_LAST_MS);
    this.#restartMs.set(index, waitMs);
    const { code, signal } = end;
    const said = { code, signal, restart_ms: waitMs };
    if (index === OWNER) this.log.error(said, "the owner of the workers' database ended; all workers restart");
    else this.log.error({ worker: index, ...said }, "a worker ended; another takes its place");
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
    this.#endWithLast();
  }

  #end(index: number, code: number): void {
    this.#exitCode = Math.max(this.#exitCode, code);
    const worker = index === OWNER ? "owner" : index;
    if (code !== 0) this.log.error({ worker, code }, "a worker could not serve, or did not end well");
    this.#endWithLast();
  }

  /** What workers write as they end, the owner takes: it ends after them. */
  #endWithLast(): void {
    if (this.#running.size === 0) this.#ended(this.#exitCode);
    else if (this.#running.size === 1) this.#running.get(OWNER)?.process.kill("SIGTERM");
  }

  #tell(signal: NodeJS.Signals): void {
    for (const [index, { process: child }] of this.#running) if (index !== OWNER) child.kill(signal);
  }
}
