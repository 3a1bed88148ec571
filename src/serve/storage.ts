/**
 * Where a core keeps its state: SQLite in its data directory, by itself or by the process that owns it, or the
 * PostgreSQL that it shares with other nodes.
 */
import { setTimeout } from "node:timers/promises";
import type { TimeSource } from "../clock/clock.js";
import { ConfigError } from "../config/config-error.js";
import type { AnswerStore } from "../gateway/replay/answer-store.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Log } from "../observe/log.js";
import type { OwnerLink } from "../owner/owner-link.js";
import type { AnswersOptions } from "../store/postgres/answers.js";
import { type Journals, openJournals } from "../store/journals.js";
import type { NodeNotes } from "../store/postgres/nodes.js";
import { Answers } from "../store/sqlite/answers.js";
import { sqliteStore, verifierOf } from "../store/sqlite/store.js";
import type { Store } from "../store/store.js";
import type { WatchedOptions } from "./core.js";
import { openDirectoryThread } from "./directory.js";
import { measured } from "./node-readings.js";
import { openOwned } from "./owned-storage.js";
import { type Derived, deriveSecrets } from "./root-secrets.js";

export interface Storage {
  readonly derived: Derived;
  readonly store: Store;
  /** What requests are noted in beside the database; undefined where the data directory takes no files. */
  readonly journals: Journals | undefined;
  /** What nodes say of themselves; undefined where this one is alone. */
  readonly nodes: NodeNotes | undefined;
  /** What says which time it is. */
  readonly time: TimeSource;
  /** The process that owns the state of this worker; undefined where this process does, or PostgreSQL has it. */
  readonly owner: OwnerLink | undefined;
  answers(options: AnswersOptions): AnswerStore;
}

/** Rejects with an Error of one line where it cannot be opened. */
export function openStorage(nodeId: string, options: WatchedOptions): Promise<Storage> {
  const { databaseUrl } = options.environment;
  if (databaseUrl !== undefined) return openDatabase(databaseUrl, nodeId, options);
  return options.isOwned ? openOwned(nodeId, options) : openDirectory(options);
}

async function openDatabase(url: string, nodeId: string, options: WatchedOptions): Promise<Storage> {
  const { environment, acceptLoss, log, metrics, outage } = options;
  const derived = deriveSecrets(environment, false);
  // A gateway on its own disk starts without the driver.
  const [{ openPostgresStore }, { isUnreachable }] = await Promise.all([
    import("../store/postgres/store.js"),
    import("../store/postgres/failure.js"),
  ]);
  const open = () =>
    openPostgresStore({
      url,
      nodeId,
      keyChecks: derived.keyChecks,
      witnessPath: environment.witnessPath,
      acceptLoss,
      onLossAccepted: (found) => log.error({ found }, "lost state was accepted (--accept-loss)"),
      onAnchorError: (err) => log.warn({ err }, "the ledger's anchor could not be written; it is retried soon"),
    });
  const store = await openWaiting(open, isUnreachable, log);
  const journals = await openOwnJournals(options);
  const answers: Storage["answers"] = (given) => store.answers(given);
  const time: TimeSource = { kind: "server", name: "PostgreSQL", read: () => store.time() };
  const beside = { nodes: store.nodes, owner: undefined, time };
  return { derived, store: outage.watch(measured(store, metrics)), journals, answers, ...beside };
}

const OPEN_AGAIN_MS = 1_000;
/** So many tries pass between two lines of the log. */
const TRIES_BETWEEN_LINES = 15;

/**
 * Opens a database, and waits for one that cannot be reached: machines that start together come up in any order.
 * Rejects where anything else is wrong. `isUnreachable` judges what the driver said, which is the cause.
 */
async function openWaiting<Opened>(
  open: () => Promise<Opened>,
  isUnreachable: (cause: unknown) => boolean,
  log: Log,
): Promise<Opened> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Error) || !isUnreachable(error.cause)) throw error;
      if (tries % TRIES_BETWEEN_LINES === 0)
        log.warn({ problem: error.message }, "the start waits for the database, and tries again every second");
      await setTimeout(OPEN_AGAIN_MS);
    }
  }
}

/** Undefined where the data directory takes no files: a node may live without, as from an image that is read-only. */
async function openOwnJournals({ environment, log }: WatchedOptions): Promise<Journals | undefined> {
  const { dataDirectory: data } = environment;
  try {
    const journals = await openJournals(data);
    const { damaged } = journals;
    if (damaged > 0) log.error({ data, damaged }, "lines of a journal are damaged; a copy of the file stays beside it");
    return journals;
  } catch (err) {
    log.warn({ err, data }, "cannot write a journal in TOLLGATE_DATA: paid calls get 503 while PostgreSQL is away");
    return undefined;
  }
}

/**
 * Rejects with a ConfigError where another node lives on the same database and nothing is named that they share limits
 * and revocations by: each would give the whole of a limit.
 */
export async function refuseSecondNode(ledger: Ledger, { environment, log }: WatchedOptions): Promise<void> {
  if (environment.databaseUrl === undefined || environment.redis !== undefined) return;
  const known = ledger.lease.beatAges().size - 1;
  if (known > 0)
    log.info({ nodes: known }, "the database knows other nodes: waits about 7 s for a heartbeat of one of them");
  const other = await ledger.lease.liveOther();
  if (other === undefined) return;
  throw new ConfigError([
    `another node (${other}) runs on the same TOLLGATE_DATABASE_URL: nodes share limits and revocations in Redis,` +
      " so set TOLLGATE_REDIS_URL to the same Redis on all of them, or stop the other one",
  ]);
}

async function openDirectory(options: WatchedOptions): Promise<Storage> {
  const { environment, metrics, outage } = options;
  const { dataDirectory: directory } = environment;
  const { derived, thread, time } = await openDirectoryThread({ ...options, syncSeconds: metrics.node.watchSyncs() });
  const verify = verifierOf(directory);
  const store = sqliteStore({ caller: thread, verify, isShared: false, close: () => thread.close() });
  const answers: Storage["answers"] = (given) => new Answers({ ...given, directory });
  const journals = await openJournals(directory);
  const nothing = { nodes: undefined, owner: undefined };
  return { derived, store: outage.watch(measured(store, metrics)), journals, answers, time, ...nothing };
}
