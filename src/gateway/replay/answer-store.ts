/** Where answers with an Idempotency-Key are kept, as the gateway uses it. The store implements it. */

/** What is known of one Idempotency-Key. */
export interface StoredAnswer {
  readonly requestId: string;
  /** What the request asked, as `Ask.print` makes it. */
  readonly print: Uint8Array;
  /** The sealed record; null where the request has not ended, or its answer is not kept any more. */
  readonly record: Uint8Array | null;
}

export interface NewAnswer extends StoredAnswer {
  readonly id: Uint8Array;
  /** Whose room it takes. */
  readonly accountId: string;
  /** When the record is forgotten, and when the key is. */
  readonly recordUntilMs: number;
  readonly untilMs: number;
}

/** Each method rejects with LEDGER_UNAVAILABLE where the disk cannot be reached. */
export interface AnswerStore {
  find(id: Uint8Array): Promise<StoredAnswer | undefined>;
  /** Resolves once it is durable. Replaces what was kept of the key. */
  put(answer: NewAnswer): Promise<void>;
  remove(id: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
