/** What a store asks of its tables, beside the batches of the ledger: each call is answered at one moment. */
import type { Act, AuditEvent } from "../audit/act.js";
import type { PeopleScript } from "./people-store.js";
import type { AlertStep, StepRows } from "./alert-statements.js";
import type { AccountCursor, AccountFilter } from "./account-list.js";
import type { KeyFilter } from "./key-list.js";
import type { AccountFigureRow, Buckets, KeyFigureRow, KeyUse, OperatorCost } from "./figures.js";
import type { EntrySpan, EntrySum, StatementBounds } from "./statement.js";
import type {
  AccountChange,
  AccountRow,
  AuditFilter,
  AuditRow,
  BalanceRow,
  DaySpan,
  EntryRow,
  Freeze,
  KeyRow,
  NewAccountRow,
  OutputSum,
  ReceiptRow,
  RequestRow,
  SeedOutcome,
  SeedRows,
  UsageSum,
  UsageSummaryRow,
} from "./store.js";

/** Day, account, key and model of the last sum of the page before. */
export type SummaryCursor = readonly [string, string, string, string];

/** The last row of the page before: its time and id. */
export interface TimeCursor {
  readonly timeMs: number;
  readonly id: string;
}

/** Lists give up to `count` rows after the cursor. */
export interface TableCalls {
  balance(accountId: string): BalanceRow | undefined;
  archivedUntil(): number | undefined;
  entries(accountId: string, count: number, beforeSequence: number | undefined): EntryRow[];
  statementBounds(accountId: string, fromMs: number | undefined, toMs: number | undefined): StatementBounds | undefined;
  entrySpan(accountId: string, span: EntrySpan, count: number): EntryRow[];
  entrySum(accountId: string, span: EntrySpan, count: number): EntrySum;
  createAccount(account: NewAccountRow, act: Act): boolean;
  setAccount(id: string, settings: AccountChange, etag: string, act: Act): AccountRow | "stale" | undefined;
  setFreeze(id: string, freeze: Freeze | null, act: Act): AccountRow | undefined;
  account(id: string): AccountRow | undefined;
  accounts(filter: AccountFilter, count: number, after: AccountCursor | undefined): AccountRow[];
  accountFigures(ids: readonly string[], buckets: Buckets): AccountFigureRow[];
  keyFigures(ids: readonly string[], buckets: Buckets): KeyFigureRow[];
  noteKeyUses(uses: readonly KeyUse[]): void;
  addOperatorCosts(costs: readonly OperatorCost[]): OperatorCost[];
  createKey(key: KeyRow, event: AuditEvent): boolean;
  key(id: string): KeyRow | undefined;
  keyByDigest(digest: Uint8Array): KeyRow | undefined;
  keys(filter: KeyFilter, count: number, before: TimeCursor | undefined): KeyRow[];
  replaceKey(key: KeyRow, event: AuditEvent): boolean;
  appendAudit(event: AuditEvent): void;
  auditEvents(filter: AuditFilter, count: number, beforeSequence: number | undefined): AuditRow[];
  receipt(id: string): ReceiptRow | undefined;
  requests(accountId: string | undefined, count: number, beforeSequence: number | undefined): RequestRow[];
  requestsOf(ids: readonly string[]): RequestRow[];
  running(accountId: string | undefined, count: number): RequestRow[];
  summarize(
    accountId: string | undefined,
    days: DaySpan,
    count: number,
    after: SummaryCursor | undefined,
  ): { rows: UsageSummaryRow[]; total: UsageSum };
  outputOf(accountId: string, model: string, fromDay: string): OutputSum;
  people(name: PeopleScript, args: readonly unknown[]): unknown;
  seed(rows: SeedRows): SeedOutcome;
  /** All of them in one durable transaction, with the record of what they change where the first one gives a row. */
  alertSteps(steps: readonly AlertStep[], event?: AuditEvent): StepRows;
  /** Writes a row, so that it answers only where the database takes writes. */
  check(): void;
}

type Answered<Call> = Call extends (...args: infer Arguments) => infer Result
  ? (...args: Arguments) => Promise<Result>
  : never;

/** The same calls, of a database that does not answer at once. */
export type AsyncTableCalls = { readonly [Name in keyof TableCalls]: Answered<TableCalls[Name]> };
