/** A store over the calls of a database: its lists in pages, which are the same whichever database it is. */
import { type Act, markWritten } from "../audit/act.js";
import type { StepRows } from "./alert-statements.js";
import type { AsyncTableCalls, TimeCursor } from "./calls.js";
import {
  ACCOUNT_CURSOR,
  SEQUENCE_CURSOR,
  SUMMARY_CURSOR,
  TIME_CURSOR,
  checkSize,
  cutPage,
  decodeToken,
  readPage,
} from "./page.js";
import { peopleStore } from "./people-store.js";
import { statementPage } from "./statement.js";
import type {
  AccountRow,
  AccountStore,
  AuditRow,
  AuditStore,
  KeyRow,
  KeyStore,
  LedgerStore,
  RequestRow,
  RequestStore,
  Store,
} from "./store.js";
import { requestsOfHolds, wholeReceipt, wholeRequest, wholeRequests } from "./whole-requests.js";

/** What of a ledger is the same over every database. */
export type LedgerReads = Pick<LedgerStore, "balance" | "entries" | "archivedUntil" | "statement">;

export interface PagedStore extends Pick<
  Store,
  "accounts" | "keys" | "requests" | "people" | "audit" | "figures" | "alertSteps" | "seed" | "check"
> {
  readonly ledgerReads: LedgerReads;
}

export function pagedStore(calls: AsyncTableCalls): PagedStore {
  return {
    ledgerReads: ledgerReads(calls),
    accounts: accountStore(calls),
    keys: keyStore(calls),
    requests: requestStore(calls),
    people: peopleStore((name, args) => calls.people(name, args)),
    audit: auditStore(calls),
    figures: {
      ofAccounts: (ids, buckets) => calls.accountFigures(ids, buckets),
      ofKeys: (ids, buckets) => calls.keyFigures(ids, buckets),
      noteUses: (uses) => calls.noteKeyUses(uses),
      addOperatorCosts: (costs) => calls.addOperatorCosts(costs),
    },
    seed: async (rows) => {
      const outcome = await calls.seed(rows);
      if (outcome.refused === undefined) markWritten(rows.act);
      return outcome;
    },
    alertSteps: async (steps, event) => {
      const rows = await calls.alertSteps(steps, event);
      if (event !== undefined && isChanged(rows)) markWritten(event);
      return rows;
    },
    check: () => calls.check(),
  };
}

/** True where the first step gave a row. */
function isChanged(rows: StepRows): boolean {
  return (rows[0]?.length ?? 0) > 0;
}

function ledgerReads(calls: AsyncTableCalls): LedgerReads {
  return {
    archivedUntil: () => calls.archivedUntil(),
    balance: (accountId) => calls.balance(accountId),
    entries: async (accountId, page) => {
      const size = checkSize(page);
      const before = decodeToken("entries", page.token, SEQUENCE_CURSOR);
      const rows = await calls.entries(accountId, size + 1, before);
      const cut = cutPage("entries", rows, size, (row) => row.accountSequence);
      const isLast = cut.nextPageToken === "";
      const bounds = isLast ? await calls.statementBounds(accountId, undefined, undefined) : undefined;
      return { ...cut, archivedUntilMs: bounds?.archivedUntilMs };
    },
    statement: (accountId, period, page) =>
      statementPage(accountId, period, page, {
        bounds: (fromMs, toMs) => calls.statementBounds(accountId, fromMs, toMs),
        span: (span, count) => calls.entrySpan(accountId, span, count),
        sum: (span, count) => calls.entrySum(accountId, span, count),
      }),
  };
}

function accountStore(calls: AsyncTableCalls): AccountStore {
  return {
    create: (account, act) => marked(act, calls.createAccount(account, act)),
    setSettings: async (id, settings, etag, act) => {
      const changed = await calls.setAccount(id, settings, etag, act);
      if (changed !== undefined && changed !== "stale") markWritten(act);
      return changed;
    },
    setFreeze: async (id, freeze, act) => {
      const changed = await calls.setFreeze(id, freeze, act);
      if (changed !== undefined) markWritten(act);
      return changed;
    },
    get: (id) => calls.account(id),
    list: async (page, filter = { order: "id" }) => {
      const size = checkSize(page);
      const list = `accounts by ${filter.order}`;
      const after = decodeToken(list, page.token, ACCOUNT_CURSOR);
      const place = ({ id, sortValue = 0n }: AccountRow): [string, string] => [String(sortValue), id];
      const read = (count: number, behind: [string, string] | undefined): Promise<AccountRow[]> =>
        calls.accounts(filter, count, behind && [filter.order, ...behind]);
      const found = await readPage(read, size, after, place);
      return cutPage(list, found.rows, found.size, place);
    },
  };
}

function keyStore(calls: AsyncTableCalls): KeyStore {
  return {
    create: (key, event) => marked(event, calls.createKey(key, event)),
    get: (id) => calls.key(id),
    findByDigest: (digest) => calls.keyByDigest(digest),
    list: async (filter, page) => {
      const size = checkSize(page);
      const before = decodeToken("keys", page.token, TIME_CURSOR);
      const place = ({ createTimeMs, id }: KeyRow): TimeCursor => ({ timeMs: createTimeMs, id });
      const read = await readPage((count, behind) => calls.keys(filter, count, behind), size, before, place);
      return cutPage("keys", read.rows, read.size, place);
    },
    replace: (key, event) => marked(event, calls.replaceKey(key, event)),
  };
}

function auditStore(calls: AsyncTableCalls): AuditStore {
  return {
    list: async (filter, page) => {
      const size = checkSize(page);
      const before = decodeToken("audit", page.token, SEQUENCE_CURSOR);
      const place = ({ sequence }: AuditRow): number => sequence;
      const read = await readPage((count, behind) => calls.auditEvents(filter, count, behind), size, before, place);
      return cutPage("audit", read.rows, read.size, place);
    },
    append: async (event) => {
      await calls.appendAudit(event);
      markWritten(event);
    },
  };
}

/** What was changed was recorded with its change. */
async function marked(act: Act, changing: Promise<boolean>): Promise<boolean> {
  const changed = await changing;
  if (changed) markWritten(act);
  return changed;
}

function requestStore(calls: AsyncTableCalls): RequestStore {
  return {
    get: (id) => wholeRequest(id, calls),
    receipt: (id) => wholeReceipt(id, calls),
    list: async (accountId, page) => {
      const size = checkSize(page);
      const list = accountId === undefined ? "requests" : "requests of an account";
      const before = decodeToken(list, page.token, SEQUENCE_CURSOR);
      const holds = await calls.requests(accountId, size + 1, before);
      const place = (row: RequestRow): number => (accountId === undefined ? row.sequence : row.accountSequence);
      const cut = cutPage(list, holds, size, place);
      return { ...cut, rows: await requestsOfHolds(cut.rows, calls) };
    },
    many: (ids) => wholeRequests(ids, calls),
    running: async (accountId, count) => requestsOfHolds(await calls.running(accountId, count), calls),
    summarize: async (accountId, days, page) => {
      const size = checkSize(page);
      const after = decodeToken("usage", page.token, SUMMARY_CURSOR);
      const { rows, total } = await calls.summarize(accountId, days, size + 1, after);
      const cut = cutPage("usage", rows, size, ({ day, accountId: id, keyId, model }) => [day, id, keyId, model]);
      return { ...cut, total };
    },
    outputOf: (accountId, model, fromDay) => calls.outputOf(accountId, model, fromDay),
  };
}
