/** Answers with an Idempotency-Key, as the drivers keep them. */

/** One key, and the sealed answer of its request; a null record means that there is none, or not any more. */
export interface AnswerRow {
  readonly id: Uint8Array;
  /** Whose room it takes. */
  readonly accountId: string;
  readonly requestId: string;
  readonly print: Uint8Array;
  readonly record: Uint8Array | null;
  readonly recordUntilMs: number;
  readonly untilMs: number;
}

/**
 * How much is kept. Above it the account with the most loses its oldest records, whose keys stay, and then its oldest
 * keys.
 */
export interface AnswerBounds {
  readonly recordBytesMax: number;
  readonly rowsMax: number;
}

/** What is kept now. */
export interface AnswerTotals {
  readonly rows: number;
  readonly recordBytes: number;
  /** Records that went before their time, for want of room. */
  readonly evicted: number;
}
