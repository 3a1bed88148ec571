/**
 * What a node writes to its own disk while the database is away: the requests that it admits within its leases, and
 * what they cost in the end. Once the database is back it gets all of this, from memory; after a crash, from the disk.
 */
import { GatewayError } from "../base/errors.js";
import { type JournalOperation, journalText } from "./journal-text.js";
import type { LedgerLog } from "./ledger-options.js";
import type { HoldOperation } from "./operation.js";

/** Lines on a disk beside the database, each durable once it is appended. */
export interface JournalLines {
  /** False if the journal has no room. */
  readonly hasRoom: boolean;
  readonly lines: number;
  append(text: string): Promise<void>;
  /** Removes everything: nothing that was appended is needed any more. */
  clear(): void;
}

export interface JournalOptions {
  readonly file: JournalLines;
  /** The current id of this node. */
  readonly epoch: () => string;
  /** True if the database has not taken operations for a while. */
  readonly isAway: () => boolean;
  /** Called if the disk did not take a line. */
  readonly onError: (error: unknown) => void;
  /** Called when the number of requests whose end is only in the journal changes between none and some. */
  readonly onUse: (isUsed: boolean) => void;
}

export class Journal {
  readonly #options: JournalOptions;
  /** The requests that need the journal: true if their end is in it. */
  readonly #needed = new Map<string, boolean>();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** False if a request should be refused rather than admitted. */
  get hasRoom(): boolean {
    return this.#options.file.hasRoom;
  }

  /** True if the database is away, so that changes are written here too. */
  get isWanted(): boolean {
    return this.#options.isAway();
  }

  /** How many requests would be lost without the journal if this process ended. */
  get size(): number {
    return this.#needed.size;
  }

  /** Resolves once the hold is on the disk; then its request may begin. Rejects with LEDGER_UNAVAILABLE. */
  async admit(operation: HoldOperation): Promise<void> {
    try {
      await this.#append(operation);
    } catch (error) {
      throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE", {}, { cause: error });
    }
  }

  /** Writes a checkpoint or the end of a request. Never rejects: true once it is on the disk. */
  async note(operation: Exclude<JournalOperation, HoldOperation>): Promise<boolean> {
    if (this.#needed.get(operation.requestId) === true) return true;
    try {
      await this.#append(operation);
      return true;
    } catch {
      return false;
    }
  }

  /** The database has the hold of a request. Its end may still be only in the journal. */
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

/** The journal of a ledger, which logs its use; undefined if there is no file. */
export function journalOf(
  file: JournalLines | undefined,
  node: Pick<JournalOptions, "epoch" | "isAway">,
  log: LedgerLog,
): Journal | undefined {
  if (file === undefined) return undefined;
  return new Journal({
    file,
    ...node,
    onError: (err) =>
      log.error({ err }, "the journal cannot be written; requests are refused while the database is away"),
    onUse: (isUsed) => {
      if (isUsed) log.warn({}, "requests within leases are written to the journal until the database is back");
      else log.warn({}, "the database has all that was in the journal");
    },
  });
}
