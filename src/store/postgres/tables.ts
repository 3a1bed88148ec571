/** Accounts, keys, requests and entries in PostgreSQL: each call in one statement, or in one transaction. */
import assert from "node:assert/strict";
import type { Act, AuditEvent } from "../../audit/act.js";
import {
  ACCOUNT,
  accountEvent,
  BALANCE,
  type BalanceColumns,
  accountValues,
  CORRECTED,
  type CorrectedColumns,
  INSERT_ACCOUNT,
  RECALL_LEASES,
  newAccountValues,
  toAccount,
  toListedAccount,
  toBalance,
  UPDATE_ACCOUNT,
  withFreeze,
  withSettings,
} from "../account-rows.js";
import { type AccountQuery, accountQuery, type ListedAccount } from "../account-list.js";
import type { AsyncTableCalls } from "../calls.js";
import { type KeyQuery, keyQuery } from "../key-list.js";
import type { AccountColumns, RequestColumns, TransferColumns } from "../columns.js";
import { ENTRIES_OF_REQUEST, toEntry } from "../entry-rows.js";
import {
  changeableValues,
  COUNT_KEYS,
  INSERT_KEY,
  KEY,
  KEY_BY_DIGEST,
  KEY_BY_PREVIOUS_DIGEST,
  type KeyColumns,
  REPLACE_KEY,
  toKey,
} from "../key-rows.js";
import {
  type DayColumns,
  type DayParameters,
  NEWEST_REQUESTS,
  NEWEST_REQUESTS_OF_ACCOUNT,
  type OutputColumns,
  type OutputParameters,
  type PageParameters,
  pageParameters,
  REQUEST,
  RUNNING_REQUESTS,
  RUNNING_REQUESTS_OF_ACCOUNT,
  type RunningParameters,
  type SumColumns,
  type SummaryParameters,
  summaryParameters,
  toOutput,
  toRequest,
  toSum,
  toSummary,
  USAGE_DAYS,
  USAGE_DAYS_OF_ACCOUNT,
  USAGE_OUTPUT,
  USAGE_TOTAL,
  USAGE_TOTAL_OF_ACCOUNT,
} from "../request-rows.js";
import { type AccountChange, type AccountRow, type KeyRow, KEYS_MAX, type NewAccountRow } from "../store.js";
import { appendAudit } from "./audit.js";
import type { Postgres, Session } from "./connection.js";
import { namedSql, sql } from "./sql.js";

const accounts = {
  insert: sql(INSERT_ACCOUNT),
  update: sql(UPDATE_ACCOUNT),
  get: sql(ACCOUNT),
  balance: sql(BALANCE),
  // Its settings and its sums do not change at once: a batch of the ledger has its row meanwhile.
  locked: sql(`${ACCOUNT} FOR UPDATE`),
  corrected: sql(CORRECTED),
  recall: sql(RECALL_LEASES),
};
const keys = {
  insert: sql(INSERT_KEY),
  count: sql(COUNT_KEYS),
  get: sql(KEY),
  byDigest: sql(KEY_BY_DIGEST),
  byPreviousDigest: sql(KEY_BY_PREVIOUS_DIGEST),
  replace: sql(REPLACE_KEY),
};
const requests = {
  get: sql(REQUEST),
  entries: namedSql<{ readonly requestId: string }>(ENTRIES_OF_REQUEST),
  list: namedSql<PageParameters>(NEWEST_REQUESTS),
  listOfAccount: namedSql<PageParameters>(NEWEST_REQUESTS_OF_ACCOUNT),
  many: sql(REQUEST.replace("= ?", "= ANY($1::text[])")),
  running: namedSql<RunningParameters>(RUNNING_REQUESTS),
  runningOfAccount: namedSql<RunningParameters>(RUNNING_REQUESTS_OF_ACCOUNT),
  days: namedSql<SummaryParameters>(USAGE_DAYS),
  daysOfAccount: namedSql<SummaryParameters>(USAGE_DAYS_OF_ACCOUNT),
  total: namedSql<DayParameters>(USAGE_TOTAL),
  totalOfAccount: namedSql<DayParameters>(USAGE_TOTAL_OF_ACCOUNT),
  output: namedSql<OutputParameters>(USAGE_OUTPUT),
};

type AccountCalls = Pick<
  AsyncTableCalls,
  "balance" | "createAccount" | "setAccount" | "setFreeze" | "account" | "accounts"
>;

export function accountCalls(database: Postgres): AccountCalls {
  return {
    balance: (id) =>
      database.transact(
        async (session) => {
          const [row] = await session.rows<BalanceColumns>(accounts.balance, [id]);
          return row && toBalance(row, await session.rows<CorrectedColumns>(accounts.corrected, [id]));
        },
        { snapshot: true },
      ),
    createAccount: (account, act) =>
      recorded(database, async (session, events) => {
        const event = await createAccount(session, account, act);
        if (event !== undefined) events.push(event);
        return event !== undefined;
      }),
    setAccount: (id, settings, etag, act) =>
      recorded(database, (session, events) => setAccount(session, id, settings, { etag, act, events })),
    setFreeze: (id, freeze, act) =>
      recorded(database, (session, events) =>
        changeAccount(session, id, (account) => withFreeze(account, freeze), { act, events }),
      ),
    account: (id) => findAccount(database, id),
    accounts: async (filter, count, after) => {
      const { text, values } = accountQuery(filter, count, after);
      const statement = namedSql<AccountQuery["values"]>(text);
      return (await database.rows<ListedAccount>(statement, statement.valuesOf(values))).map(toListedAccount);
    },
  };
}

/** The record of its making, which is for the end of the transaction; undefined where the id is taken. */
export async function createAccount(
  session: Session,
  account: NewAccountRow,
  act: Act,
): Promise<AuditEvent | undefined> {
  if ((await session.run(accounts.insert, newAccountValues(account))) !== 1) return undefined;
  return accountEvent(act, undefined, await findAccount(session, account.id));
}

export async function findAccount(session: Session, id: string): Promise<AccountRow | undefined> {
  const [row] = await session.rows<AccountColumns>(accounts.get, [id]);
  return row && toAccount(row);
}

/** Who makes a change, and where its record goes, which is for the end of the transaction. */
interface Recording {
  readonly act: Act;
  readonly events: AuditEvent[];
}

/** Runs a change and its records in one transaction. */
function recorded<Result>(
  database: Postgres,
  change: (session: Session, events: AuditEvent[]) => Promise<Result>,
): Promise<Result> {
  return database.transact(async (session) => {
    const events: AuditEvent[] = [];
    const result = await change(session, events);
    if (events.length > 0) await appendAudit(session, events);
    return result;
  });
}

export function setAccount(
  session: Session,
  id: string,
  settings: AccountChange,
  { etag, ...recording }: Recording & { readonly etag: string },
): Promise<AccountRow | "stale" | undefined> {
  const change = (account: AccountRow): AccountRow | "stale" =>
    etag !== "" && etag !== account.etag ? "stale" : withSettings(account, settings);
  return changeAccount(session, id, change, recording);
}

/** Changes it between two batches of the ledger. */
async function changeAccount<Changed extends AccountRow | "stale">(
  session: Session,
  id: string,
  change: (account: AccountRow) => Changed,
  { act, events }: Recording,
): Promise<Changed | undefined> {
  const [row] = await session.rows<AccountColumns>(accounts.locked, [id]);
  if (row === undefined) return undefined;
  const before = toAccount(row);
  const changed = change(before);
  if (changed === "stale") return changed;
  await session.run(accounts.update, [...accountValues(changed), id]);
  await session.run(accounts.recall, [id]);
  events.push(accountEvent(act, before, changed));
  return changed;
}

type KeyCalls = Pick<AsyncTableCalls, "createKey" | "key" | "keyByDigest" | "keys" | "replaceKey">;

export function keyCalls(database: Postgres): KeyCalls {
  return {
    createKey: (key, event) =>
      recorded(database, async (session, events) => {
        const isMade = await createKey(session, key);
        if (isMade) events.push(event);
        return isMade;
      }),
    key: async (id) => toKey((await database.rows<KeyColumns>(keys.get, [id]))[0]),
    keyByDigest: (digest) => findKey(database, digest),
    keys: async (filter, count, before) => {
      const { text, values } = keyQuery(filter, count, before);
      const statement = namedSql<KeyQuery["values"]>(text);
      return (await database.rows<KeyColumns>(statement, statement.valuesOf(values))).flatMap(
        (row) => toKey(row) ?? [],
      );
    },
    replaceKey: (key, event) =>
      recorded(database, async (session, events) => {
        const isReplaced = await replaceKey(session, key);
        if (isReplaced) events.push(event);
        return isReplaced;
      }),
  };
}

/** False where another change came first. */
export async function replaceKey(session: Session, key: KeyRow): Promise<boolean> {
  return (await session.run(keys.replace, [...changeableValues(key), key.id, key.revision - 1])) === 1;
}

/** Its record is for the end of the transaction. */
export async function createKey(session: Session, key: KeyRow): Promise<boolean> {
  // A secret that still opens another key, as its previous one, is taken too.
  const taken = await session.rows(keys.byPreviousDigest, [key.digest]);
  const [counted] = await session.rows<{ readonly count: bigint }>(keys.count, [key.accountId]);
  if (taken.length > 0 || Number(counted?.count ?? 0) >= KEYS_MAX) return false;
  return (await session.run(keys.insert, [key.id, ...changeableValues(key)])) === 1;
}

export async function findKey(session: Session, digest: Uint8Array): Promise<KeyRow | undefined> {
  const [row] = await session.rows<KeyColumns>(keys.byDigest, [digest]);
  return toKey(row ?? (await session.rows<KeyColumns>(keys.byPreviousDigest, [digest]))[0]);
}

type RequestCalls = Pick<AsyncTableCalls, "receipt" | "requests" | "requestsOf" | "running" | "summarize" | "outputOf">;

export function requestCalls(database: Postgres): RequestCalls {
  return {
    receipt: (id) => database.transact((session) => receipt(session, id), { snapshot: true }),
    requests: async (accountId, count, beforeSequence) => {
      const statement = accountId === undefined ? requests.list : requests.listOfAccount;
      const values = statement.valuesOf(pageParameters(accountId, count, beforeSequence));
      return (await database.rows<RequestColumns>(statement, values)).map(toRequest);
    },
    requestsOf: async (ids) => (await database.rows<RequestColumns>(requests.many, [ids])).map(toRequest),
    running: async (accountId, count) => {
      const statement = accountId === undefined ? requests.running : requests.runningOfAccount;
      const values = statement.valuesOf({ accountId: accountId ?? "", count });
      return (await database.rows<RequestColumns>(statement, values)).map(toRequest);
    },
    summarize: (...asked) => database.transact((session) => summarize(session, ...asked), { snapshot: true }),
    outputOf: async (accountId, model, fromDay) => {
      const values = requests.output.valuesOf({ accountId, model, fromDay });
      return toOutput((await database.rows<OutputColumns & Record<string, bigint>>(requests.output, values))[0]);
    },
  };
}

async function receipt(session: Session, id: string): ReturnType<RequestCalls["receipt"]> {
  const [row] = await session.rows<RequestColumns>(requests.get, [id]);
  if (row === undefined) return undefined;
  const entries = await session.rows<TransferColumns>(requests.entries, requests.entries.valuesOf({ requestId: id }));
  return { request: toRequest(row), entries: entries.map(toEntry) };
}

async function summarize(
  session: Session,
  ...[accountId, days, count, after]: Parameters<RequestCalls["summarize"]>
): ReturnType<RequestCalls["summarize"]> {
  const ofDays = accountId === undefined ? requests.days : requests.daysOfAccount;
  const ofAll = accountId === undefined ? requests.total : requests.totalOfAccount;
  const found = await session.rows<DayColumns>(
    ofDays,
    ofDays.valuesOf(summaryParameters(accountId, days, count, after)),
  );
  const [total] = await session.rows<SumColumns>(ofAll, ofAll.valuesOf({ ...days, accountId: accountId ?? "" }));
  assert(total !== undefined, "a sum over no rows is a row");
  return { rows: found.map(toSummary), total: toSum(total) };
}
