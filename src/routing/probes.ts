/** How often a target that is ejected may be asked all the same, to see whether it is well again. */

const PROBE_MS = 1_000;

/** One probe a second. Whoever made the last one leaves the next second to others, so that no account has them all. */
export class Probes {
  #lastMs = Number.NEGATIVE_INFINITY;
  #lastAccountId = "";

  /** How long until this account may make one, in milliseconds. */
  waitMs(nowMs: number, accountId: string): number {
    const apartMs = accountId === this.#lastAccountId ? 2 * PROBE_MS : PROBE_MS;
    return Math.max(0, this.#lastMs + apartMs - nowMs);
  }

  take(nowMs: number, accountId: string): void {
    this.#lastMs = nowMs;
    this.#lastAccountId = accountId;
  }

  reset(): void {
    this.#lastMs = Number.NEGATIVE_INFINITY;
    this.#lastAccountId = "";
  }
}
