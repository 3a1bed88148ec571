/** A data directory of this process alone: its secret, its database, and what tells of a ledger that was lost. */
import type { TimeSource } from "../clock/clock.js";
import type { Distribution } from "../base/distribution.js";
import { holdsLedger, prepareDirectory, tracesOfLost } from "../store/data-directory.js";
import { leaveMark, markPath } from "../store/ledger-mark.js";
import { openSqliteThread } from "../store/sqlite/store.js";
import type { SqliteThread } from "../store/sqlite/thread.js";
import type { Environment } from "../config/environment.js";
import type { Log } from "../observe/log.js";
import { type Derived, deriveSecrets } from "./root-secrets.js";

const WITNESS_INSIDE =
  "the ledger's witness is beside its database and can be lost with it: set TOLLGATE_WITNESS to a file on another disk";

export interface DirectoryOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly demo: boolean;
  readonly acceptLoss: boolean;
  /** Takes the machine's time of day also where the database has seen a later one. */
  readonly acceptClock: boolean;
  readonly onFatal: (error: Error) => void;
  /** Where the time of each sync of the disk is noted. */
  readonly syncSeconds?: Distribution | undefined;
}

/** Rejects with an Error of one line where it cannot be opened. */
export async function openDirectoryThread(
  options: DirectoryOptions,
): Promise<{ readonly derived: Derived; readonly thread: SqliteThread; readonly time: TimeSource }> {
  const { environment, acceptLoss, acceptClock, demo, log } = options;
  const { dataDirectory: directory, witnessPath } = environment;
  prepareDirectory(directory);
  // A witness elsewhere finds all that a mark does.
  const mark = witnessPath === undefined ? markPath(directory, process.env) : undefined;
  const traces = tracesOfLost(directory, witnessPath, mark);
  const derived = deriveSecrets(environment, acceptLoss || !holdsLedger(directory, witnessPath));
  const thread = await openThread(derived, traces, options);
  // A directory of demonstrations is one to throw away.
  const err = mark === undefined || demo ? undefined : leaveMark(mark, directory);
  if (err !== undefined) log.info({ err }, "no mark of the ledger can be kept outside its data directory");
  const lastMs = acceptClock ? undefined : await thread.call("lastTime");
  return { derived, thread, time: { kind: "machine", lastMs } };
}

/** Opens the database, and says what it lost where that is accepted. */
function openThread(
  { keyChecks: [keyCheck, ...otherKeyChecks] }: Derived,
  traces: readonly string[],
  { environment, log, acceptLoss, onFatal, syncSeconds }: DirectoryOptions,
): Promise<SqliteThread> {
  if (environment.witnessPath === undefined) log.info({ data: environment.dataDirectory }, WITNESS_INSIDE);
  return openSqliteThread({
    directory: environment.dataDirectory,
    keyCheck,
    otherKeyChecks,
    acceptLoss,
    syncSeconds,
    witnessPath: environment.witnessPath,
    traces,
    onFatal,
    onLossAccepted: (found) => log.error({ found }, "lost state was accepted (--accept-loss)"),
  });
}
