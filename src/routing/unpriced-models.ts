/** Names that clients asked a wildcard for and that have no price or no limits: operators see what to add. */

const NAMES_MAX = 100;

export interface UnpricedName {
  readonly id: string;
  readonly wildcard: string;
  readonly requestCount: bigint;
  readonly lastTime: Date;
}

export class UnpricedModels {
  /** The latest asked last. */
  readonly #names = new Map<string, UnpricedName>();

  constructor(private readonly nowMs: () => number) {}

  note(id: string, wildcard: string): void {
    const requestCount = (this.#names.get(id)?.requestCount ?? 0n) + 1n;
    this.#names.delete(id);
    const [oldest] = this.#names.keys();
    if (oldest !== undefined && this.#names.size >= NAMES_MAX) this.#names.delete(oldest);
    this.#names.set(id, { id, wildcard, requestCount, lastTime: new Date(this.nowMs()) });
  }

  /** The most asked first. */
  list(): readonly UnpricedName[] {
    return [...this.#names.values()].sort((one, other) => Number(other.requestCount - one.requestCount));
  }
}
