/** Which keys and accounts changed of late: a look-up that began before compares its own names with them. */

/** More changes than come during a look-up; where they do, it counts as changed. */
export const NAMES_MAX = 4_096;

export class RecentChanges {
  #count = 0;
  /** The count at the last change of each name, the oldest first. */
  readonly #lastOf = new Map<string, number>();
  /** Up to this count nobody knows any more whom each change concerned. */
  #forgottenCount = 0;

  /** How many were heard of. */
  get count(): number {
    return this.#count;
  }

  /** The name of a key, or of an account as `ACCOUNT` begins it; without one nobody knows whom it concerns. */
  add(name: string | undefined): void {
    this.#count += 1;
    if (name === undefined) {
      this.#lastOf.clear();
      this.#forgottenCount = this.#count;
      return;
    }
    // A name that is set anew would keep its old place.
    this.#lastOf.delete(name);
    this.#lastOf.set(name, this.#count);
    if (this.#lastOf.size <= NAMES_MAX) return;
    const [oldest] = this.#lastOf;
    if (oldest === undefined) return;
    this.#lastOf.delete(oldest[0]);
    this.#forgottenCount = oldest[1];
  }

  /** True where one of the names changed since there had been so many changes, or nobody knows any more. */
  mayHaveChanged(names: readonly string[], sinceCount: number): boolean {
    if (sinceCount === this.#count) return false;
    return sinceCount < this.#forgottenCount || names.some((name) => (this.#lastOf.get(name) ?? 0) > sinceCount);
  }
}
