/** The SQLite driver: a store in one directory, behind a thread of its own, of this process or of another one. */
import { resolve } from "node:path";
import type { Distribution } from "../../base/distribution.js";
import type { CallArguments, CallName, CallResult, SqliteCalls } from "./calls.js";
import { SqliteThread, verifyBeside } from "./thread.js";
import { flattenOperations, readResults } from "./batch-message.js";
import type { AsyncTableCalls } from "../calls.js";
import { pagedStore } from "../paged-store.js";
import type { LedgerStore, Store, VerifyReport } from "../store.js";

export interface SqliteOptions {
  /** Where the database lives. Made, for its owner alone, where it does not exist. */
  readonly directory: string;
  /** Called once where the disk failed under the database: the process must end, and recover when it starts again. */
  readonly onFatal?: ((error: Error) => void) | undefined;
  /**
   * The most that the database may grow to. Beyond it, writes are refused with LEDGER_UNAVAILABLE. Absent: the disk.
   */
  readonly databaseBytesMax?: number | undefined;
  /** Derived from the root secret, in 64 hex digits: another one than before is a loss. Absent: not compared. */
  readonly keyCheck?: string | undefined;
  /** Of the other root secrets that are taken. Default: none. */
  readonly otherKeyChecks?: readonly string[] | undefined;
  /** Opens also what has lost state, and writes that down. */
  readonly acceptLoss?: boolean | undefined;
  /** Where the witness is kept, absolute. Absent: in the directory, with which it can be lost. */
  readonly witnessPath?: string | undefined;
  /** Files of a ledger that were there when neither its database nor its witness was. Default: none. */
  readonly traces?: readonly string[] | undefined;
  /** Where the time of each sync of the disk is noted, by its memory that threads share. */
  readonly syncSeconds?: Distribution | undefined;
  /** Called once with what was lost, where that was accepted. */
  readonly onLossAccepted?: ((found: string) => void) | undefined;
}

/** What asks the database's thread. */
export interface SqliteCaller {
  call<Name extends CallName<SqliteCalls>>(
    name: Name,
    ...args: CallArguments<SqliteCalls, Name>
  ): Promise<CallResult<SqliteCalls, Name>>;
}

/** What a store over the calls needs beside them. */
export interface SqliteParts extends Pick<LedgerStore, "verify"> {
  readonly caller: SqliteCaller;
  /** True where other processes ask the same thread. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}

/** Opens the database in a directory. Rejects with an Error of one line where it cannot. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const thread = await openSqliteThread(options);
  const verify = verifierOf(options.directory);
  return sqliteStore({ caller: thread, verify, isShared: false, close: () => thread.close() });
}

/** As `openSqliteStore`: the thread by itself. */
export async function openSqliteThread(options: SqliteOptions): Promise<SqliteThread> {
  const directory = resolve(options.directory);
  const { onFatal, databaseBytesMax, keyCheck = "", acceptLoss = false, witnessPath, traces = [] } = options;
  const { otherKeyChecks = [] } = options;
  const check = { keyCheck, otherKeyChecks, acceptLoss, witnessPath, traces };
  const syncSeconds = options.syncSeconds?.cells.buffer;
  const thread = await SqliteThread.start({ kind: "ledger", directory, databaseBytesMax, check, syncSeconds }, onFatal);
  if (thread.lossFound !== undefined) options.onLossAccepted?.(thread.lossFound);
  return thread;
}

/** A proof reads everything; those who ask while one runs share it. */
export function verifierOf(directory: string): () => Promise<VerifyReport> {
  let verifying: Promise<VerifyReport> | undefined;
  return () => {
    verifying ??= verifyBeside(resolve(directory)).finally(() => (verifying = undefined));
    return verifying;
  };
}

export function sqliteStore({ caller, verify, isShared, close }: SqliteParts): Store {
  const { ledgerReads, ...tables } = pagedStore(tableCalls(caller));
  const ledger: LedgerStore = {
    ...ledgerReads,
    commit: async (operations) => readResults(await caller.call("commit", flattenOperations(operations))),
    preview: async (operations) => readResults(await caller.call("preview", flattenOperations(operations))),
    ...(isShared ? { recalled: (nodeId) => caller.call("recalled", nodeId) } : {}),
    verify,
  };
  return { ledger, ...tables, close };
}

function tableCalls(thread: SqliteCaller): AsyncTableCalls {
  return {
    balance: (...args) => thread.call("balance", ...args),
    archivedUntil: (...args) => thread.call("archivedUntil", ...args),
    entries: (...args) => thread.call("entries", ...args),
    statementBounds: (...args) => thread.call("statementBounds", ...args),
    entrySpan: (...args) => thread.call("entrySpan", ...args),
    entrySum: (...args) => thread.call("entrySum", ...args),
    createAccount: (...args) => thread.call("createAccount", ...args),
    setAccount: (...args) => thread.call("setAccount", ...args),
    setFreeze: (...args) => thread.call("setFreeze", ...args),
    account: (...args) => thread.call("account", ...args),
    accounts: (...args) => thread.call("accounts", ...args),
    createKey: (...args) => thread.call("createKey", ...args),
    key: (...args) => thread.call("key", ...args),
    keyByDigest: (...args) => thread.call("keyByDigest", ...args),
    keys: (...args) => thread.call("keys", ...args),
    replaceKey: (...args) => thread.call("replaceKey", ...args),
    accountFigures: (...args) => thread.call("accountFigures", ...args),
    keyFigures: (...args) => thread.call("keyFigures", ...args),
    noteKeyUses: (...args) => thread.call("noteKeyUses", ...args),
    addOperatorCosts: (...args) => thread.call("addOperatorCosts", ...args),
    appendAudit: (...args) => thread.call("appendAudit", ...args),
    auditEvents: (...args) => thread.call("auditEvents", ...args),
    receipt: (...args) => thread.call("receipt", ...args),
    requests: (...args) => thread.call("requests", ...args),
    requestsOf: (...args) => thread.call("requestsOf", ...args),
    running: (...args) => thread.call("running", ...args),
    summarize: (...args) => thread.call("summarize", ...args),
    outputOf: (...args) => thread.call("outputOf", ...args),
    people: (...args) => thread.call("people", ...args),
    seed: (...args) => thread.call("seed", ...args),
    alertSteps: (...args) => thread.call("alertSteps", ...args),
    check: (...args) => thread.call("check", ...args),
  };
}
