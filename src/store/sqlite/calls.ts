/** What the main thread asks of the database's thread, and the messages that carry it. */
import type { FlatValue } from "./batch-message.js";
import type { StartCheck, StartNotice } from "./file.js";
import type { EntrySpan, EntrySum, StatementBounds } from "../statement.js";
import type {
  AccountBudgets,
  AccountLimits,
  AccountRow,
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
  VerifyReport,
} from "../store.js";

/** Day, account, key and model of the last sum of the page before. */
export type SummaryCursor = readonly [string, string, string, string];

/** The last row of the page before: its time and id. */
export interface TimeCursor {
  readonly timeMs: number;
  readonly id: string;
}

/** Every call, answered in the order of the questions. Lists give up to `count` rows after the cursor. */
export interface SqliteCalls {
  /** Operations and results are flat lists, as `batch-message.ts` makes them. */
  commit(operations: readonly FlatValue[]): readonly FlatValue[];
  preview(operations: readonly FlatValue[]): readonly FlatValue[];
  balance(accountId: string): BalanceRow | undefined;
  entries(accountId: string, count: number, beforeSequence: number | undefined): EntryRow[];
  statementBounds(accountId: string, fromMs: number | undefined, toMs: number | undefined): StatementBounds | undefined;
  entrySpan(accountId: string, span: EntrySpan, count: number): EntryRow[];
  entrySum(accountId: string, span: EntrySpan, count: number): EntrySum;
  createAccount(account: NewAccountRow): boolean;
  setAccount(
    id: string,
    settings: Partial<AccountBudgets & AccountLimits>,
    etag: string,
  ): AccountRow | "stale" | undefined;
  setFreeze(id: string, freeze: Freeze | null): AccountRow | undefined;
  account(id: string): AccountRow | undefined;
  accounts(count: number, afterId: string): AccountRow[];
  createKey(key: KeyRow): boolean;
  key(id: string): KeyRow | undefined;
  keyByDigest(digest: Uint8Array): KeyRow | undefined;
  keys(accountId: string | undefined, count: number, before: TimeCursor | undefined): KeyRow[];
  replaceKey(key: KeyRow): boolean;
  request(id: string): RequestRow | undefined;
  receipt(id: string): ReceiptRow | undefined;
  requests(accountId: string | undefined, count: number, beforeSequence: number | undefined): RequestRow[];
  summarize(
    accountId: string | undefined,
    days: DaySpan,
    count: number,
    after: SummaryCursor | undefined,
  ): { rows: UsageSummaryRow[]; total: UsageSum };
  outputOf(accountId: string, model: string, fromDay: string): OutputSum;
  seed(rows: SeedRows): SeedOutcome;
  /** Writes a row, so that it answers only where the database takes writes. */
  check(): void;
}

/** What a thread can be asked: the calls of the ledger's database, or of another one. */
export type CallName<Calls> = keyof Calls & string;
type Call<Calls, Name extends keyof Calls> = Calls[Name] extends (...args: infer Arguments) => infer Result
  ? { readonly args: Arguments; readonly result: Result }
  : never;
export type CallArguments<Calls, Name extends keyof Calls> = Call<Calls, Name>["args"];
export type CallResult<Calls, Name extends keyof Calls> = Call<Calls, Name>["result"];

export interface CallMessage {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

/** How a call failed: unavailable passes, broken is our fault, fatal means that the disk cannot be trusted. */
export interface Failure {
  readonly kind: "unavailable" | "broken" | "fatal";
  readonly code: string;
  readonly message: string;
}

export type WorkerMessage =
  | { readonly kind: "ready"; readonly notice: StartNotice | undefined }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "answer"; readonly id: number; readonly result: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: Failure }
  | { readonly kind: "verified"; readonly report: VerifyReport }
  | { readonly kind: "closed" };

/** What a thread is started for. */
export type WorkerTask =
  | {
      readonly kind: "serve";
      readonly directory: string;
      readonly databaseBytesMax: number | undefined;
      readonly check: StartCheck;
    }
  | { readonly kind: "verify"; readonly directory: string }
  | { readonly kind: "answers"; readonly directory: string };
