/** What the program asks of a database. A driver implements it; the rest of the program knows no SQL. */
import { type TransferKind } from "../ledger/transfer.js";
import type { AccountSettings, Usage, UsageSource } from "../api/index.js";
import type { Act, AuditEvent, AuditResult } from "../audit/act.js";
import type { AlertStep, StepRows } from "./alert-statements.js";
import type { AccountFilter } from "./account-list.js";
import type { KeyFilter } from "./key-list.js";
import type { FigureStore } from "./figures.js";
import type { LedgerOperation, LedgerResult } from "../ledger/operation.js";
import type { PeopleStore } from "./people-store.js";
import type { FileState, SeedOutcome, SeedRows } from "./seed-rows.js";

export type { AlertStep, StepRows } from "./alert-statements.js";

export type { AccountFilter, AccountOrder } from "./account-list.js";
export { type KeyFilter, searchTextOf } from "./key-list.js";
export type { FileState, SeedOutcome, SeedRows } from "./seed-rows.js";
export type { AccountFigureRow, Buckets, FigureStore, KeyFigureRow, KeyUse, OperatorCost } from "./figures.js";

/** A page of rows, and the token of the next page; empty where there is none. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextPageToken: string;
}

/** Which page of a list. `size` is 1 to 1,000. A token that is not one of ours throws PARAMETER_INVALID. */
export interface PageRequest {
  readonly size: number;
  readonly token: string;
}

/** An account's own budgets, in nano-USD. Zero is no limit. */
export interface AccountBudgets {
  readonly budgetDayNanos: bigint;
  readonly budgetWeekNanos: bigint;
  readonly budgetMonthNanos: bigint;
  readonly budgetQuarterNanos: bigint;
  readonly budgetTotalNanos: bigint;
  /** The most that one request may cost. */
  readonly requestCostMaxNanos: bigint;
}

/**
 * Requests and tokens in any 60 seconds and requests at once, of all keys of an account together; 0 is none. And how
 * what they say is kept; absent: it is not. And where they may be processed; absent: anywhere. And what it is granted
 * again in each period; absent: nothing. And its quotas; absent: none.
 */
export type AccountLimits = Pick<
  AccountSettings,
  "requestsPerMinute" | "tokensPerMinute" | "concurrency" | "modelLimits"
> &
  Partial<Pick<AccountSettings, "content" | "demands" | "creditLine" | "quotas">>;

/** What an update changes of an account; absent parts stay as they are. */
export type AccountChange = Partial<
  AccountBudgets & AccountLimits & Pick<AccountRow, "name" | "plan" | "freeze" | "fileState">
>;

export interface NewAccountRow {
  readonly id: string;
  readonly name: string;
  readonly createTimeMs: number;
  /** Absent: none. */
  readonly budgets?: AccountBudgets | undefined;
  /** Absent: none. */
  readonly limits?: AccountLimits | undefined;
  /** The name of the plan that it is made from, which need not exist. Absent or empty: none. */
  readonly plan?: string | undefined;
  /** Absent: empty. */
  readonly fileState?: FileState | undefined;
}

/** Since when nothing new may be held of an account, why, and who says so. */
export interface Freeze {
  readonly timeMs: number;
  readonly reason: string;
  /** The key of the operator. */
  readonly actor: string;
  /** True where requests that run end too. */
  readonly endsStreams: boolean;
}

export interface AccountRow extends NewAccountRow {
  readonly budgets: AccountBudgets;
  readonly limits: AccountLimits;
  readonly plan: string;
  readonly fileState: FileState;
  /** Null where it is not frozen. */
  readonly freeze: Freeze | null;
  /** Another after each change of its settings or its freeze. */
  readonly etag: string;
  /** By what its list is ordered; absent where it is in none. */
  readonly sortValue?: bigint | undefined;
}

/**
 * An account's balance in nano-USD: granted = available + held + spent. What was granted has refunds in it, and not
 * what was debited again.
 */
export interface BalanceRow {
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
  readonly spentNanos: bigint;
  readonly grantedNanos: bigint;
  readonly refundedNanos: bigint;
  readonly debitedNanos: bigint;
  /** What debits found no money for. */
  readonly receivableNanos: bigint;
}

/** One transfer, as it concerns one account. */
export interface EntryRow {
  readonly id: string;
  readonly kind: Exclude<TransferKind, "lease"> | "reserve";
  readonly sequence: number;
  /** Its place among the account's own, from 1 without gaps: lists and statements go by it. */
  readonly accountSequence: number;
  readonly amountNanos: bigint;
  readonly availableChangeNanos: bigint;
  readonly heldChangeNanos: bigint;
  readonly requestId: string;
  readonly createTimeMs: number;
  readonly debitAccount: string;
  readonly creditAccount: string;
  /** Why it was made and by whom, where it is a correction; else empty. */
  readonly reason: string;
  readonly actor: string;
}

/** What stands on an account at one place in the ledger, in nano-USD. */
export interface BalancePoint {
  readonly availableNanos: bigint;
  readonly heldNanos: bigint;
}

/** The time of a statement: from `fromMs` on, before `toMs`; undefined is from the first entry, or to the newest. */
export interface StatementPeriod {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** A page of a statement: its entries, oldest first, with what stood on the account before, between and after them. */
export interface StatementPage {
  readonly opening: BalancePoint;
  readonly entries: readonly (EntryRow & BalancePoint)[];
  readonly closing: BalancePoint;
  readonly nextPageToken: string;
  /** Where it begins at the end of an archive, which has the entries from before. Undefined where it has none. */
  readonly archivedUntilMs: number | undefined;
}

/** A page of an account's entries. The last one says from before when older ones are in an archive. */
export interface EntryPage extends Page<EntryRow> {
  readonly archivedUntilMs: number | undefined;
}

/** A request with the transfers that it caused, oldest first. */
export interface ReceiptRow {
  readonly request: RequestRow;
  readonly entries: readonly EntryRow[];
}

/** What a key may do; the settings as the protocol's KeySettings, stored as one JSON document. */
export interface KeyRow {
  readonly id: string;
  readonly accountId: string;
  /** The key that made it; null where an operator or a settings file did. */
  readonly makerId: string | null;
  /** The person who made it; absent or null where none did. */
  readonly makerUserId?: string | null;
  /** KeySettings as protobuf bytes. */
  readonly settings: Uint8Array;
  /** HMAC-SHA-256 of the secret. Unique. */
  readonly digest: Uint8Array;
  /** The digest before the last rotation, and until when it is taken; null where there is none. */
  readonly previousDigest: Uint8Array | null;
  readonly previousUntilMs: number | null;
  readonly hint: string;
  /** As `searchTextOf` makes it: lists find the key by it. Written and not read. Absent: by hint and id alone. */
  readonly searchText?: string;
  readonly createTimeMs: number;
  /** A key that its settings file removed is revoked as others are, so that every program refuses it. */
  readonly revokeTimeMs: number | null;
  /** Absent: empty. */
  readonly fileState?: FileState;
  /** Counts the changes of the key, from 1. */
  readonly revision: number;
}

/** What is kept of one request. */
export interface RequestRow {
  readonly id: string;
  /** The hold that pays for it: another id than the request's where a fallback model answered. */
  readonly holdId: string;
  /** The sequence of its hold's transfer: lists of all go by it, and lists of an account by its place in that. */
  readonly sequence: number;
  readonly accountSequence: number;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly upstream: string;
  readonly state: "held" | "settled" | "voided" | "expired";
  readonly holdNanos: bigint;
  readonly costNanos: bigint;
  /** What the account paid of the cost, and what the operator paid above the hold. */
  readonly chargedNanos: bigint;
  readonly overageNanos: bigint;
  /** What of the charge was given back. */
  readonly refundedNanos: bigint;
  /** What the operator pays for it; undefined where nobody knows. */
  readonly operatorCostNanos: bigint | undefined;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly attempts: number;
  /** How each attempt went, as `encodeAttempts` writes it; null where that is not known. */
  readonly attemptLog: string | null;
  /** The pinned price: Price as protobuf bytes. */
  readonly price: Uint8Array;
  readonly createTimeMs: number;
  readonly endTimeMs: number | null;
}

/** A sum over requests. */
export interface UsageSum {
  readonly requestCount: number;
  readonly usage: Usage;
  readonly costNanos: bigint;
  /** What was given back of them. */
  readonly refundedNanos: bigint;
  /** What the operator pays for them, and what their charges leave of that, as far as it is known. */
  readonly operatorCostNanos: bigint;
  readonly marginNanos: bigint;
}

export interface UsageSummaryRow extends UsageSum {
  readonly day: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
}

/** UTC days such as 2026-11-21, both included. */
export interface DaySpan {
  readonly fromDay: string;
  readonly toDay: string;
}

/** A page of sums, the oldest day first, and the sum over the whole span at the same moment. */
export interface UsageSummaryPage extends Page<UsageSummaryRow> {
  readonly total: UsageSum;
}

/** How many requests there were, and the tokens that their answers had together, of whatever kind. */
export interface OutputSum {
  readonly requestCount: number;
  readonly outputTokens: number;
}

/** What a proof of the ledger found. */
export interface VerifyReport {
  readonly holds: boolean;
  /** Sentences, at most 100. */
  readonly problems: readonly string[];
  readonly accountCount: number;
  readonly transferCount: number;
  readonly openHoldCount: number;
  readonly auditEventCount: number;
  /** How many transfers are in the files of an archive and not in the database, and before when. */
  readonly archivedTransferCount: number;
  readonly archivedUntilMs: number | undefined;
}

export interface LedgerStore {
  /** Runs the operations in order in one durable transaction. One refused operation does not fail the others. */
  commit(operations: readonly LedgerOperation[]): Promise<readonly LedgerResult[]>;
  /** What `commit` would answer. Changes nothing. */
  preview(operations: readonly LedgerOperation[]): Promise<readonly LedgerResult[]>;
  /**
   * The ids of a node's leases that are asked back. Absent where no other process writes: then each is named in an
   * answer to this one.
   */
  recalled?(nodeId: string): Promise<readonly string[]>;
  balance(accountId: string): Promise<BalanceRow | undefined>;
  entries(accountId: string, page: PageRequest): Promise<EntryPage>;
  /** Before when transfers are archived; undefined where none are. */
  archivedUntil(): Promise<number | undefined>;
  /** A page of an account's statement; undefined where there is no such account. */
  statement(accountId: string, period: StatementPeriod, page: PageRequest): Promise<StatementPage | undefined>;
  /** Proves the whole ledger beside the writer, without stopping it. */
  verify(): Promise<VerifyReport>;
}

/**
 * Each change brings its act, and is recorded in its own transaction. Where nothing was changed nothing is recorded.
 */
export interface AccountStore {
  /** False where the id is taken. */
  create(account: NewAccountRow, act: Act): Promise<boolean>;
  get(id: string): Promise<AccountRow | undefined>;
  /**
   * Changes the settings that are given, between two commits. Undefined where there is no such account, and `stale`
   * where it has another etag; an empty one takes whatever is there.
   */
  setSettings(id: string, settings: AccountChange, etag: string, act: Act): Promise<AccountRow | "stale" | undefined>;
  /** Freezes the account, or with null unfreezes it, between two commits; undefined where there is no such account. */
  setFreeze(id: string, freeze: Freeze | null, act: Act): Promise<AccountRow | undefined>;
  list(page: PageRequest, filter?: AccountFilter): Promise<Page<AccountRow>>;
}

/** Keys of one account that are not revoked: whoever may make keys does not fill the disk with them. */
export const KEYS_MAX = 20_000;

/** Each change brings its record, which is written in its own transaction. */
export interface KeyStore {
  /** False where the digest is taken, or the account has `KEYS_MAX` keys. */
  create(key: KeyRow, event: AuditEvent): Promise<boolean>;
  get(id: string): Promise<KeyRow | undefined>;
  /** The key whose digest or previous digest this is. */
  findByDigest(digest: Uint8Array): Promise<KeyRow | undefined>;
  /** Newest first. */
  list(filter: KeyFilter, page: PageRequest): Promise<Page<KeyRow>>;
  /** Replaces the row where it still has `revision - 1`; false where another change came first. */
  replace(key: KeyRow, event: AuditEvent): Promise<boolean>;
}

/** A record of the audit log, with its place in it, from 1 without gaps. */
export interface AuditRow extends AuditEvent {
  readonly sequence: number;
}

/** Which records a list has; absent parts narrow nothing. */
export interface AuditFilter {
  readonly accountId?: string | undefined;
  readonly actorId?: string | undefined;
  /** Any of them. */
  readonly methods?: readonly string[] | undefined;
  readonly resource?: string | undefined;
  readonly result?: AuditResult | undefined;
  readonly fromMs?: number | undefined;
  /** The records before it. */
  readonly toMs?: number | undefined;
}

export interface AuditStore {
  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditRow>>;
  /** Adds the record of what is no row of the database, or of what was refused. */
  append(event: AuditEvent): Promise<void>;
}

export interface RequestStore {
  get(id: string): Promise<RequestRow | undefined>;
  /** The request and its transfers at one moment. */
  receipt(id: string): Promise<ReceiptRow | undefined>;
  list(accountId: string | undefined, page: PageRequest): Promise<Page<RequestRow>>;
  /** Those of these that there are, in any order. */
  many(ids: readonly string[]): Promise<readonly RequestRow[]>;
  /** Those that run, newest first. */
  running(accountId: string | undefined, count: number): Promise<readonly RequestRow[]>;
  summarize(accountId: string | undefined, days: DaySpan, page: PageRequest): Promise<UsageSummaryPage>;
  /** What an account's requests to a model answered together since a day. */
  outputOf(accountId: string, model: string, fromDay: string): Promise<OutputSum>;
}

/** A database, open. Each method rejects with LEDGER_UNAVAILABLE where the database cannot be reached. */
export interface Store {
  readonly ledger: LedgerStore;
  readonly accounts: AccountStore;
  readonly keys: KeyStore;
  readonly requests: RequestStore;
  readonly audit: AuditStore;
  readonly figures: FigureStore;
  readonly people: PeopleStore;
  /** Does all of it in one durable transaction, or nothing. */
  seed(rows: SeedRows): Promise<SeedOutcome>;
  /**
   * What alerts read and write, in one durable transaction. With an event, the first step is the change that it tells:
   * where that gives no row, nothing was changed, and no record is written.
   */
  alertSteps(steps: readonly AlertStep[], event?: AuditEvent): Promise<StepRows>;
  /** Resolves where the database takes writes. */
  check(): Promise<void>;
  close(): Promise<void>;
}
