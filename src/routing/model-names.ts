/** Which model a request means by the name that it gives. */

/** How Claude Code marks for itself a model that it asks with a long context. */
const CLIENTS_HINT = /\[1m\]$/;

export class ModelNames {
  readonly #names: ReadonlySet<string>;
  /**
   * The names by their spelling in small letters, where one model alone is spelled so: two names that differ by
   * capitals alone are two models, and each is found by its own name and no other.
   */
  readonly #alike = new Map<string, string | undefined>();

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
    for (const name of this.#names) {
      const small = name.toLowerCase();
      this.#alike.set(small, this.#alike.has(small) ? undefined : name);
    }
  }

  /** The model's own name: as it was asked, without the client's mark, or in other letters. */
  find(asked: string): string | undefined {
    if (this.#names.has(asked)) return asked;
    const name = asked.replace(CLIENTS_HINT, "");
    return this.#names.has(name) ? name : this.#alike.get(name.toLowerCase());
  }
}
