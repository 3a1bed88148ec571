/** The retry budget of an upstream: second tries of one target add to its load just when it can bear it least. */

/** Retries may be a tenth of the attempts, and a few more so that a quiet gateway can retry at all. */
const SHARE = 0.1;
const RESERVE = 3;
const TOKENS_MAX = RESERVE + 100;

export class RetryBudget {
  #tokens = RESERVE;

  /** An attempt began. */
  earn(): void {
    this.#tokens = Math.min(TOKENS_MAX, this.#tokens + SHARE);
  }

  /** Takes one retry; false where there is none left. */
  spend(): boolean {
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  reset(): void {
    this.#tokens = RESERVE;
  }
}
