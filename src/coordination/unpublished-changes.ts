/** Changes of keys and accounts that Redis was not told of yet. */

/** So long another node may believe what it remembers of a key; then it asks the store. */
const BELIEVED_MS = 35_000;
const NAMES_MAX = 10_000;

interface Change {
  readonly accountId: string;
  readonly name: string;
}

export class UnpublishedChanges {
  readonly #changes = new Map<string, Change & { readonly untilMs: number }>();

  constructor(private readonly monotonicMs: () => number) {}

  add(accountId: string, name: string): void {
    if (this.#changes.size < NAMES_MAX)
      this.#changes.set(`${accountId} ${name}`, { accountId, name, untilMs: this.monotonicMs() + BELIEVED_MS });
  }

  delete(accountId: string, name: string): void {
    this.#changes.delete(`${accountId} ${name}`);
  }

  /** Those that still matter to anybody. */
  *[Symbol.iterator](): Iterator<Change> {
    const nowMs = this.monotonicMs();
    for (const [id, change] of this.#changes) {
      if (change.untilMs > nowMs) yield change;
      else this.#changes.delete(id);
    }
  }
}
