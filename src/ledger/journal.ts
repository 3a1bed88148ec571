/**
 * What a node writes to its own disk while the database is away: the requests that it admits within its leases, and
 * what they cost in the end. The database is told all of it once it is back, from memory; after a crash, from the disk.
 */
import { GatewayError } from "../errors.js";
import { type JournalOperation, journalText } from "./journal-text.js";
import type { LedgerLog } from "./ledger-options.js";
import type { HoldOperation } from "./operation.js";

/** Lines on a disk beside the database, each durable once it is appended. */
export interface JournalLines {
  /** False where nothing would be taken. */
  readonly hasRoom: boolean;
  readonly lines: number;
  append(text: string): Promise<void>;
  /** Nothing of what was appended is needed any more. */
  clear(): void;
}

export interface JournalOptions {
  readonly file: JournalLines;
  /** Under which id this node lives. */
  readonly epoch: () => string;
  /** True where the database has not taken for a while what it was sent. */
  readonly isAway: () => boolean;
  /** Called where the disk did not take a line. */
  readonly onError: (error: unknown) => void;
  /** Called when the number of requests whose end is only here changes between none and some. */
  readonly onUse: (isUsed: boolean) => void;
}

export class Journal {
  readonly #options: JournalOptions;
  /** The requests that the journal is needed for: true where the end of one is in it. */
  readonly #needed = new Map<string, boolean>();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** False where a request is better refused than admitted. */
  get hasRoom(): boolean {
    return this.#options.file.hasRoom;
  }

  /** True where the database is away, and so what comes to be is kept here too. */
  get isWanted(): boolean {
    return this.#options.isAway();
  }

  /** How many requests would be lost with this process without it. */
  get size(): number {
    return this.#needed.size;
  }

  /** Resolves once the hold is on the disk: then its request may begin. Rejects with LEDGER_UNAVAILABLE. */
  async admit(operation: HoldOperation): Promise<void> {
    try {
      await this.#append(operation);
    } catch (error) {
      throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause: error });
    }
  }

  /** Keeps what a request has come to. Never rejects: true once it is on the disk. */
  async note(operation: Exclude<JournalOperation, HoldOperation>): Promise<boolean> {
    if (this.#needed.get(operation.requestId) === true) return true;
    try {
      await this.#append(operation);
      return true;
    } catch {
      return false;
    }
  }

  /** The database has the hold of a request. What it comes to may still be here alone. */
  held(requestId: string): void {
    if (this.#needed.get(requestId) === false) this.ended(requestId);
  }

  /** The database has the end of a request, or refused it for good. */
  ended(requestId: string): void {
    if (!this.#needed.delete(requestId) || this.#needed.size > 0) return;
    this.#options.file.clear();
    this.#options.onUse(false);
  }

  async #append(operation: JournalOperation): Promise<void> {
    const { file, epoch, onError, onUse } = this.#options;
    const { requestId, kind } = operation;
    const before = this.#needed.get(requestId);
    if (this.#needed.size === 0) onUse(true);
    this.#needed.set(requestId, kind === "settle");
    try {
      await file.append(journalText(operation, epoch()));
    } catch (error) {
      onError(error);
      if (before === undefined) this.ended(requestId);
      else if (this.#needed.has(requestId)) this.#needed.set(requestId, before);
      throw error;
    }
  }
}

/** The journal of a ledger, which says in the log what becomes of it; undefined where there is no file. */
export function journalOf(
  file: JournalLines | undefined,
  node: Pick<JournalOptions, "epoch" | "isAway">,
  log: LedgerLog,
): Journal | undefined {
  if (file === undefined) return undefined;
  return new Journal({
    file,
    ...node,
    onError: (err) => log.error({ err }, "the journal took no line; while the database is away requests are refused"),
    onUse: (isUsed) => {
      if (isUsed) log.warn({}, "requests within leases are written to the journal until the database is back");
      else log.warn({}, "the database has all that was in the journal");
    },
  });
}
