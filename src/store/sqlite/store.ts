/** The SQLite driver: a store in one directory, behind a thread of its own. */
import { resolve } from "node:path";
import { ID_CURSOR, SEQUENCE_CURSOR, SUMMARY_CURSOR, TIME_CURSOR, checkSize, cutPage, decodeToken } from "../page.js";
import { SqliteThread, verifyBeside } from "./thread.js";
import { flattenOperations, readResults } from "./batch-message.js";
import type { StartNotice } from "./file.js";
import { statementPage } from "../statement.js";
import type { AccountStore, KeyStore, LedgerStore, RequestStore, Store, VerifyReport } from "../store.js";

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
  /** Called once where a person should hear of the start. */
  readonly onNotice?: ((notice: StartNotice) => void) | undefined;
}

/** Opens the database in a directory. Rejects with an Error of one line where it cannot. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const directory = resolve(options.directory);
  const { onFatal, databaseBytesMax, keyCheck = "", acceptLoss = false, witnessPath, traces = [] } = options;
  const { otherKeyChecks = [] } = options;
  const check = { keyCheck, otherKeyChecks, acceptLoss, witnessPath, traces };
  const thread = await SqliteThread.start({ kind: "serve", directory, databaseBytesMax, check }, onFatal);
  if (thread.notice !== undefined) options.onNotice?.(thread.notice);
  return {
    ledger: ledgerStore(thread, directory),
    accounts: accountStore(thread),
    keys: keyStore(thread),
    requests: requestStore(thread),
    seed: (rows) => thread.call("seed", rows),
    check: () => thread.call("check"),
    close: () => thread.close(),
  };
}

function ledgerStore(thread: SqliteThread, directory: string): LedgerStore {
  let verifying: Promise<VerifyReport> | undefined;
  return {
    commit: async (operations) => readResults(await thread.call("commit", flattenOperations(operations))),
    preview: async (operations) => readResults(await thread.call("preview", flattenOperations(operations))),
    balance: (accountId) => thread.call("balance", accountId),
    entries: async (accountId, page) => {
      const size = checkSize(page);
      const before = decodeToken("entries", page.token, SEQUENCE_CURSOR);
      const rows = await thread.call("entries", accountId, size + 1, before);
      return cutPage("entries", rows, size, (row) => row.accountSequence);
    },
    statement: (accountId, period, page) =>
      statementPage(accountId, period, page, {
        bounds: (fromMs, toMs) => thread.call("statementBounds", accountId, fromMs, toMs),
        span: (span, count) => thread.call("entrySpan", accountId, span, count),
        sum: (span, count) => thread.call("entrySum", accountId, span, count),
      }),
    verify: () => {
      // A proof reads everything; those who ask while one runs share it.
      verifying ??= verifyBeside(directory).finally(() => (verifying = undefined));
      return verifying;
    },
  };
}

function accountStore(thread: SqliteThread): AccountStore {
  return {
    create: (account) => thread.call("createAccount", account),
    setSettings: (id, settings, etag) => thread.call("setAccount", id, settings, etag),
    setFreeze: (id, freeze) => thread.call("setFreeze", id, freeze),
    get: (id) => thread.call("account", id),
    list: async (page) => {
      const size = checkSize(page);
      const after = decodeToken("accounts", page.token, ID_CURSOR);
      const rows = await thread.call("accounts", size + 1, after ?? "");
      return cutPage("accounts", rows, size, (row) => row.id);
    },
  };
}

function keyStore(thread: SqliteThread): KeyStore {
  return {
    create: (key) => thread.call("createKey", key),
    get: (id) => thread.call("key", id),
    findByDigest: (digest) => thread.call("keyByDigest", digest),
    list: async (accountId, page) => {
      const size = checkSize(page);
      const before = decodeToken("keys", page.token, TIME_CURSOR);
      const rows = await thread.call("keys", accountId, size + 1, before);
      return cutPage("keys", rows, size, (row) => ({ timeMs: row.createTimeMs, id: row.id }));
    },
    replace: (key) => thread.call("replaceKey", key),
  };
}

function requestStore(thread: SqliteThread): RequestStore {
  return {
    get: (id) => thread.call("request", id),
    receipt: (id) => thread.call("receipt", id),
    list: async (accountId, page) => {
      const size = checkSize(page);
      const list = accountId === undefined ? "requests" : "requests of an account";
      const before = decodeToken(list, page.token, SEQUENCE_CURSOR);
      const rows = await thread.call("requests", accountId, size + 1, before);
      return cutPage(list, rows, size, accountId === undefined ? (row) => row.sequence : (row) => row.accountSequence);
    },
    summarize: async (accountId, days, page) => {
      const size = checkSize(page);
      const after = decodeToken("usage", page.token, SUMMARY_CURSOR);
      const { rows, total } = await thread.call("summarize", accountId, days, size + 1, after);
      const cut = cutPage("usage", rows, size, ({ day, accountId: id, keyId, model }) => [day, id, keyId, model]);
      return { ...cut, total };
    },
    outputOf: (accountId, model, fromDay) => thread.call("outputOf", accountId, model, fromDay),
  };
}
