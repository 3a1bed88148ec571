/** What is kept for accounts, bounded in number: nobody pushes out what an account with less has. */

export class Shares<Item> {
  readonly #byAccount = new Map<string, Set<Item>>();
  #size = 0;

  constructor(private readonly max: number) {}

  get size(): number {
    return this.#size;
  }

  /** The items of an account, the oldest first. */
  of(accountId: string): Iterable<Item> {
    return this.#byAccount.get(accountId) ?? [];
  }

  has(accountId: string, item: Item): boolean {
    return this.#byAccount.get(accountId)?.has(item) === true;
  }

  /** Adds an item, as the newest of its account. Returns the one that must go for it, which is taken out already. */
  add(accountId: string, item: Item): Item | undefined {
    this.delete(accountId, item);
    const items = this.#byAccount.get(accountId) ?? new Set();
    this.#byAccount.set(accountId, items.add(item));
    this.#size += 1;
    return this.#size > this.max ? this.#takeOldest() : undefined;
  }

  /** False where it is not among them. */
  delete(accountId: string, item: Item): boolean {
    const items = this.#byAccount.get(accountId);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) this.#byAccount.delete(accountId);
    this.#size -= 1;
    return true;
  }

  /** The oldest of the account that has the most. */
  #takeOldest(): Item | undefined {
    let largest: readonly [string, Set<Item>] | undefined;
    for (const entry of this.#byAccount) if (entry[1].size > (largest?.[1].size ?? 0)) largest = entry;
    const [oldest] = largest?.[1] ?? [];
    if (largest !== undefined && oldest !== undefined) this.delete(largest[0], oldest);
    return oldest;
  }
}
