/** What a ledger is made of and told, and what it tells. */
import type { Price } from "../api/index.js";
import type { Store } from "../store/store.js";
import type { JournalLines } from "./journal.js";
import type { KeyBudget } from "./operation.js";

/** What the ledger says of what has no event below. A pino logger is one. */
export interface LedgerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface LedgerOptions {
  readonly store: Store;
  /** Unique for each start of a process: a hold belongs to the start that made it. */
  readonly nodeId: string;
  /** The time of the store, for dates and days. */
  readonly nowMs: () => number;
  /** The machine's time of day, which alone tells that the machine was suspended. Default: `nowMs`. */
  readonly machineMs?: (() => number) | undefined;
  /** The clock of durations, which no setting of the time changes. Default: the process's own. */
  readonly monotonicMs?: (() => number) | undefined;
  /** How often the node beats. Default: 5 s. */
  readonly beatEveryMs?: number | undefined;
  readonly log?: LedgerLog | undefined;
  /** Where requests are written down while the database is away. Absent: none is admitted then. */
  readonly journal?: LedgerJournal | undefined;
  /** Where settlements are noted before their clients hear of them, until the database has them. Absent: nowhere. */
  readonly intents?: LedgerIntents | undefined;
  /** Called once where lines of a journal were left from before, and the database has them now. */
  readonly onReplayed?: ((replayed: Replayed) => void) | undefined;
  /**
   * Called where a request cost more than its account had: the operator paid `overageNanos`, and `unkeptNanos` beside
   * it that the total of all overages has no room for.
   */
  readonly onOverage?: ((requestId: string, overageNanos: bigint, unkeptNanos: bigint) => void) | undefined;
  /** Called when the number of settlements that wait for the database changes. */
  readonly onSettlesWaiting?: ((count: number) => void) | undefined;
  /** How long settlements, and holds that were relied on, wait for company at most. Default: 10 ms. */
  readonly settlePatienceMs?: number | undefined;
  /** The most that one lease of this node may have. Default: 10 USD. */
  readonly leaseNanosMax?: bigint | undefined;
  /** Called where a request was settled whose hold had been lost; the operator paid `overageNanos` of its cost. */
  readonly onLate?: ((requestId: string, overageNanos: bigint) => void) | undefined;
  /** How many settlements may wait for the database. Default: 100,000. */
  readonly settlesWaitingMax?: number | undefined;
  /** How long a settlement that is refused again and again waits between two tries at most. Default: 5 s. */
  readonly settlesRetryMsMax?: number | undefined;
  /** Called where a settlement was given up: the queue is full or the ledger refuses it. Recovery resolves its hold. */
  readonly onSettleLost?: ((settlement: LostSettlement) => void) | undefined;
  /** Called when holds of nodes that are gone were settled or voided. */
  readonly onRecovered?: ((settled: number, voided: number) => void) | undefined;
}

/** A journal's lines, with those that were left behind by processes which are gone. */
export interface LedgerJournal extends JournalLines {
  readonly found: readonly string[];
  /** The database has all of it. */
  forget(): Promise<void>;
}

/** Settlements on their way, which outlive a killed process. */
export interface LedgerIntents {
  /** Those that killed processes left, which the database may have all the same. */
  readonly found: readonly string[];
  /** Never throws. */
  keep(requestId: string, text: string): void;
  /** Resolves once all that was kept outlives this process. Undefined where it does. Never rejects. */
  readonly written: Promise<void> | undefined;
  /** The database has it, or refused it for good. */
  ended(requestId: string): void;
  /** The database has all that was found. */
  forget(): void;
}

/** What became of the requests in journals that were left behind. */
export interface Replayed {
  /** Those whose end was in a journal, and is in the database now. */
  readonly settled: number;
  /** Those that ran when their process ended: they are charged by their checkpoints, or not at all. */
  readonly unfinished: number;
  /** Those that the database refuses, and lines that this version does not understand. */
  readonly refused: number;
}

/** What recovery may charge otherwise, or not at all: enough to do it by hand. */
export interface LostSettlement {
  readonly requestId: string;
  readonly costNanos: bigint;
  readonly problem: string;
}

export interface HoldRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  /** What is wanted: the most that the request can cost. */
  readonly amountNanos: bigint;
  /** The least that will do; below `amountNanos` where the output limit may be lowered to what is affordable. */
  readonly leastNanos: bigint;
  readonly budgets: readonly KeyBudget[];
  /** The price that the request is admitted at. */
  readonly price: Price;
  /** How long the request may run, reading on included. Its hold lives 60 s longer. */
  readonly timeoutMs: number;
}
