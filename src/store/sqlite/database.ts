/** The database as its own thread sees it: every call, answered at once. */
import type { AuditEvent } from "../../audit/act.js";
import type { LedgerOperation, LedgerResult } from "../../ledger/operation.js";
import { failpoint } from "../../base/failpoint.js";
import type { Book } from "../../ledger/book.js";
import { decide, endNodeLeases } from "../../ledger/state.js";
import { flattenResults, readOperations } from "./batch-message.js";
import { SqliteAlerts } from "./alerts.js";
import { SqliteAccounts } from "./accounts.js";
import { SqliteAudit } from "./audit.js";
import { BookReader } from "./book-reader.js";
import { BookWriter } from "./book-writer.js";
import type { SqliteCalls } from "./calls.js";
import type { Sqlite } from "./binding.js";
import { SqliteEntries } from "./entries.js";
import { SqliteFigures } from "./figures.js";
import { SqliteKeys } from "./keys.js";
import { SqlitePeople } from "./people.js";
import { SqliteRequests } from "./requests.js";
import { SqliteSeeds } from "./seeds.js";
import type { Witness } from "../witness.js";

/** What is kept from batch to batch at most. Beyond that it is read again where it is needed. */
const OPEN_HOLDS_MAX = 10_000;
const ACCOUNTS_MAX = 10_000;
const BUDGETS_MAX = 50_000;

/** By their places, so that what a wrong clock once wrote is forgotten with what comes behind it. */
export const LAST_TIME = `SELECT max(
  coalesce((SELECT create_time_ms FROM transfer ORDER BY sequence DESC LIMIT 1), 0),
  coalesce((SELECT time_ms FROM audit_event ORDER BY sequence DESC LIMIT 1), 0))`;

/** The calls over an open database. Its witness hears of each commit. */
export function sqliteCalls(database: Sqlite, witness?: Witness): SqliteCalls {
  const reader = new BookReader(database);
  const writer = new BookWriter(database);
  const audit = new SqliteAudit(database);
  const figures = new SqliteFigures(database);
  const accounts = new SqliteAccounts(database, audit);
  const entries = new SqliteEntries(database);
  const keys = new SqliteKeys(database, audit);
  const requests = new SqliteRequests(database);
  const seeds = new SqliteSeeds(database, { reader, writer, accounts, keys, audit });
  const people = new SqlitePeople(database, audit);
  const alerts = new SqliteAlerts(database, audit);
  const recalled = database
    .prepare<[string], string>("SELECT id FROM lease WHERE node_id = ? AND recalled = 1")
    .pluck();
  const lastTime = database.prepare<[], number | bigint | null>(LAST_TIME).pluck();
  const probe = database.prepare("UPDATE probe SET count = count + 1 WHERE id = 1");
  /** What the last commit left behind: this thread is the only writer. Undefined where a commit failed. */
  let kept: Book | undefined;
  const commit = database.transaction((operations: readonly LedgerOperation[]): [Book, LedgerResult[]] => {
    const book = kept ?? reader.start();
    // Only a commit that was written leaves its book to the next. Where its sync fails the thread ends.
    kept = undefined;
    reader.read(book, operations);
    const results = operations.map((operation) => decide(book, operation));
    writer.write(book);
    for (const event of book.events) audit.append(event);
    failpoint("during_commit");
    return [book, results];
  });
  return {
    commit: (operations) => {
      failpoint("before_commit");
      const [book, results] = commit(readOperations(operations));
      kept = book.accounts.size > ACCOUNTS_MAX || book.budgetCount > BUDGETS_MAX ? undefined : book;
      kept?.forgetChanges(OPEN_HOLDS_MAX);
      witness?.wrote(book.head);
      failpoint("after_commit");
      return flattenResults(results);
    },
    preview: (operations) => {
      const asked = readOperations(operations);
      // A book of its own, which nobody writes.
      const book = reader.start();
      reader.read(book, asked);
      endNodeLeases(book);
      return flattenResults(asked.map((operation) => decide(book, operation)));
    },
    recalled: (nodeId) => recalled.all(nodeId),
    lastTime: () => Number(lastTime.get() ?? 0) || undefined,
    balance: (accountId) => accounts.balance(accountId),
    ...entryCalls(entries),
    ...accountCalls(database, accounts, () => {
      // The next commit reads everything anew: open holds in the book count on their account being there.
      kept = undefined;
    }),
    ...keyCalls(database, keys),
    appendAudit: database.transaction((event: AuditEvent) => audit.append(event)),
    accountFigures: (ids, buckets) => figures.ofAccounts(ids, buckets),
    keyFigures: (ids, buckets) => figures.ofKeys(ids, buckets),
    noteKeyUses: (uses) => figures.noteUses(uses),
    addOperatorCosts: (costs) => figures.addOperatorCosts(costs),
    auditEvents: (filter, count, beforeSequence) => audit.list(filter, count, beforeSequence),
    ...requestCalls(requests, entries),
    people: (name, args) => people.run(name, args),
    seed: (rows) => {
      kept = undefined;
      witness?.wrote(undefined);
      return seeds.apply(rows);
    },
    alertSteps: (steps, event) => alerts.run(steps, event),
    check: () => void probe.run(),
  };
}

type AccountCalls = Pick<SqliteCalls, "createAccount" | "setAccount" | "setFreeze" | "account" | "accounts">;

/** A change and its record are one transaction. */
function accountCalls(database: Sqlite, accounts: SqliteAccounts, onChange: () => void): AccountCalls {
  return {
    createAccount: database.transaction((account, act) => accounts.create(account, act)),
    setAccount: database.transaction((id, settings, etag, act) => {
      onChange();
      return accounts.setSettings(id, settings, etag, act);
    }),
    setFreeze: database.transaction((id, freeze, act) => {
      onChange();
      return accounts.setFreeze(id, freeze, act);
    }),
    account: (id) => accounts.get(id),
    accounts: (filter, count, after) => accounts.list(filter, count, after),
  };
}

type KeyCalls = Pick<SqliteCalls, "createKey" | "key" | "keyByDigest" | "keys" | "replaceKey">;

function keyCalls(database: Sqlite, keys: SqliteKeys): KeyCalls {
  return {
    createKey: database.transaction((key, event) => keys.create(key, event)),
    key: (id) => keys.get(id),
    keyByDigest: (digest) => keys.findByDigest(digest),
    keys: (filter, count, before) => keys.list(filter, count, before),
    replaceKey: database.transaction((key, event) => keys.replace(key, event)),
  };
}

type EntryCalls = Pick<SqliteCalls, "entries" | "archivedUntil" | "statementBounds" | "entrySpan" | "entrySum">;

function entryCalls(entries: SqliteEntries): EntryCalls {
  return {
    entries: (accountId, count, beforeSequence) => entries.list(accountId, count, beforeSequence),
    archivedUntil: () => entries.archivedUntil(),
    statementBounds: (accountId, fromMs, toMs) => entries.bounds(accountId, fromMs, toMs),
    entrySpan: (accountId, span, count) => entries.span(accountId, span, count),
    entrySum: (accountId, span, count) => entries.sum(accountId, span, count),
  };
}

type RequestCalls = Pick<SqliteCalls, "receipt" | "requests" | "requestsOf" | "running" | "summarize" | "outputOf">;

function requestCalls(requests: SqliteRequests, entries: SqliteEntries): RequestCalls {
  return {
    receipt: (id) => {
      const request = requests.get(id);
      return request && { request, entries: entries.ofRequest(id) };
    },
    requests: (accountId, count, before) => requests.list(accountId, count, before),
    requestsOf: (ids) => ids.flatMap((id) => requests.get(id) ?? []),
    running: (accountId, count) => requests.running(accountId, count),
    summarize: (accountId, days, count, after) => ({
      rows: requests.summarize(accountId, days, count, after),
      total: requests.total(accountId, days),
    }),
    outputOf: (accountId, model, fromDay) => requests.outputOf(accountId, model, fromDay),
  };
}
