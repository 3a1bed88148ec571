/** A bounded number of items that is shared by accounts: an account cannot evict the items of an account with fewer. */

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

  /** Adds an item, as the newest of its account. Returns the evicted item, if any, which is already removed. */
  add(accountId: string, item: Item): Item | undefined {
    this.delete(accountId, item);
    const items = this.#byAccount.get(accountId) ?? new Set();
    this.#byAccount.set(accountId, items.add(item));
    this.#size += 1;
    return this.#size > this.max ? this.#takeOldest() : undefined;
  }

  /** False if the item is not present. */
  delete(accountId: string, item: Item): boolean {
    const items = this.#byAccount.get(accountId);
    if (items?.delete(item) !== true) return false;
    if (items.size === 0) this.#byAccount.delete(accountId);
    this.#size -= 1;
    return true;
  }

  /** Removes the oldest item of the account that has the most. */
  #takeOldest(): Item | undefined {
    let largest: readonly [string, Set<Item>] | undefined;
    for (const entry of this.#byAccount) if (entry[1].size > (largest?.[1].size ?? 0)) largest = entry;
    const [oldest] = largest?.[1] ?? [];
    if (largest !== undefined && oldest !== undefined) this.delete(largest[0], oldest);
    return oldest;
  }
}
