/** The interface of the store for answers with an Idempotency-Key. The database stores implement it. */

/** What is stored for one Idempotency-Key. */
export interface StoredAnswer {
  readonly requestId: string;
  /** The fingerprint of the request, as `Ask.print` makes it. */
  readonly print: Uint8Array;
  /** The sealed record; null if the request has not ended, or its answer is no longer kept. */
  readonly record: Uint8Array | null;
}

export interface NewAnswer extends StoredAnswer {
  readonly id: Uint8Array;
  /** The account whose share of the space it uses. */
  readonly accountId: string;
  /** When the record is deleted, and when the key is. */
  readonly recordUntilMs: number;
  readonly untilMs: number;
}

/** Each method rejects with LEDGER_UNAVAILABLE if the disk cannot be reached. */
export interface AnswerStore {
  find(id: Uint8Array): Promise<StoredAnswer | undefined>;
  /** Resolves once it is durable. Replaces what was stored for the key. */
  put(answer: NewAnswer): Promise<void>;
  remove(id: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
