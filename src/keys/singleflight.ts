/** Looks at what changed: one at a time for each subject, and once more where it changed since the look began. */

export class Singleflight<Subject> {
  /** The subjects that are looked at, each with whether it changed meanwhile. */
  readonly #changed = new Map<Subject, boolean>();

  /**
   * Looks at the subject as it is from now on: at once, or behind the look that is on its way. A look for each change
   * would fill the store's queue where somebody changes a key again and again. `look` must not reject.
   */
  async changed(subject: Subject, look: () => Promise<void>): Promise<void> {
    const isLookedAt = this.#changed.has(subject);
    this.#changed.set(subject, true);
    if (isLookedAt) return;
    while (this.#changed.get(subject) === true) {
      this.#changed.set(subject, false);
      await look();
    }
    this.#changed.delete(subject);
  }
}
