/** What a ledger needs and what it reports. */
import type { Price } from "../api/index.js";
import type { Store } from "../store/store.js";
import type { JournalLines } from "./journal.js";
import type { KeyBudget } from "./operation.js";

/** The ledger's log, for everything that has no event below. A pino logger is one. */
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
  /** The machine's time of day, which shows that the machine was suspended. Default: `nowMs`. */
  readonly machineMs?: (() => number) | undefined;
  /** The monotonic clock, which no change of the time of day affects. Default: the process's own. */
  readonly monotonicMs?: (() => number) | undefined;
  /** The interval of heartbeats. Default: 3 s. */
  readonly beatEveryMs?: number | undefined;
  readonly log?: LedgerLog | undefined;
  /** Where requests are written while the database is away. Absent: none is admitted then. */
  readonly journal?: LedgerJournal | undefined;
  /**
   * Where settlements are written before their clients receive the end, until the database has them. Absent: nowhere.
   */
  readonly intents?: LedgerIntents | undefined;
  /** Called once if lines of an earlier journal existed, and the database has them now. */
  readonly onReplayed?: ((replayed: Replayed) => void) | undefined;
  /**
   * Called if a request cost more than its account had: the operator paid `overageNanos`, and also `unkeptNanos`, for
   * which the total of all overage has no room.
   */
  readonly onOverage?: ((requestId: string, overageNanos: bigint, unkeptNanos: bigint) => void) | undefined;
  /** Called when the number of settlements that wait for the database changes. */
  readonly onSettlesWaiting?: ((count: number) => void) | undefined;
  /** How long settlements, and holds of running requests, wait at most to share a commit. Default: 10 ms. */
  readonly settlePatienceMs?: number | undefined;
  /** The highest amount of one lease of this node. Default: 10 USD. */
  readonly leaseNanosMax?: bigint | undefined;
  /** Called if a request was settled whose hold had been lost; the operator paid `overageNanos` of its cost. */
  readonly onLate?: ((requestId: string, overageNanos: bigint) => void) | undefined;
  /** How many settlements may wait for the database. Default: 100,000. */
  readonly settlesWaitingMax?: number | undefined;
  /** The longest pause between two tries of a settlement that is refused repeatedly. Default: 5 s. */
  readonly settlesRetryMsMax?: number | undefined;
  /** Called if a settlement was given up: the queue is full or the ledger refuses it. Recovery resolves its hold. */
  readonly onSettleLost?: ((settlement: LostSettlement) => void) | undefined;
  /** Called when holds of dead nodes were settled or voided. */
  readonly onRecovered?: ((settled: number, voided: number) => void) | undefined;
}

/** A journal's lines, and those that earlier processes left behind. */
export interface LedgerJournal extends JournalLines {
  readonly found: readonly string[];
  /** Call when the database has all of it. */
  forget(): Promise<void>;
}

/** Settlements on their way, stored so that they survive a killed process. */
export interface LedgerIntents {
  /** Those that killed processes left; the database may have them already. */
  readonly found: readonly string[];
  /** Never throws. */
  keep(requestId: string, text: string): void;
  /**
   * Resolves once everything that was stored survives the end of this process. Undefined if it already does. Never
   * rejects.
   */
  readonly written: Promise<void> | undefined;
  /** Call when the database has it, or refused it for good. */
  ended(requestId: string): void;
  /** Call when the database has all that was found. */
  forget(): void;
}

/** What became of the requests in journals of earlier processes. */
export interface Replayed {
  /** Those whose end was in a journal, and is in the database now. */
  readonly settled: number;
  /** Those that ran when their process ended: they are charged by their checkpoints, or not at all. */
  readonly unfinished: number;
  /** Those that the database refuses, and lines that this version cannot read. */
  readonly refused: number;
}

/** A settlement that recovery may charge differently, or not at all: enough to correct it by hand. */
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
  /** The requested amount: the most that the request can cost. */
  readonly amountNanos: bigint;
  /** The lowest acceptable amount; below `amountNanos` if the output limit may be lowered to what is affordable. */
  readonly leastNanos: bigint;
  readonly budgets: readonly KeyBudget[];
  /** The price at which the request is admitted. */
  readonly price: Price;
  /** How long the request may run, including reading on after its client left. Its hold lives 60 s longer. */
  readonly timeoutMs: number;
}
