/** The memory that all kept answers take together, shared out by account. */

/** An answer that takes memory. */
export interface Pooled {
  readonly accountId: string;
  /** Gives all of it back. */
  release(): void;
}

interface Share {
  bytes: number;
  /** Its answers, the oldest first. */
  readonly answers: Set<Pooled>;
}

export class BytePool {
  readonly #shares = new Map<string, Share>();
  #used = 0;

  /** `onChange` hears what is used. */
  constructor(
    private readonly max: number,
    private readonly onChange: (bytes: number) => void,
  ) {}

  /**
   * False where so many bytes are not left. Where an account with a larger share has them, its oldest answers go: so
   * each account keeps what it has up to an equal share, whatever others record.
   */
  take(answer: Pooled, bytes: number): boolean {
    while (this.#used + bytes > this.max) {
      const own = this.#shares.get(answer.accountId)?.bytes ?? 0;
      const largest = this.#largest();
      const [oldest] = largest?.answers ?? [];
      if (oldest === undefined || largest === undefined || own + bytes > largest.bytes) return false;
      oldest.release();
    }
    const share = this.#shares.get(answer.accountId) ?? { bytes: 0, answers: new Set() };
    this.#shares.set(answer.accountId, share);
    share.bytes += bytes;
    share.answers.add(answer);
    this.#used += bytes;
    this.onChange(this.#used);
    return true;
  }

  /** Takes back all that an answer took. */
  give(answer: Pooled, bytes: number): void {
    const share = this.#shares.get(answer.accountId);
    if (share?.answers.delete(answer) !== true) return;
    share.bytes -= bytes;
    if (share.answers.size === 0) this.#shares.delete(answer.accountId);
    this.#used -= bytes;
    this.onChange(this.#used);
  }

  /** The one that an account has kept longest. */
  oldestOf(accountId: string): Pooled | undefined {
    const [oldest] = this.#shares.get(accountId)?.answers ?? [];
    return oldest;
  }

  #largest(): Share | undefined {
    let largest: Share | undefined;
    for (const share of this.#shares.values()) if (share.bytes > (largest?.bytes ?? -1)) largest = share;
    return largest;
  }
}
