/** How many of a target's requests failed of late, and whether one account alone brought that about. */

const WINDOW_MS = 30_000;
const REQUESTS_MIN = 20;
const FAILURES_OF_OTHERS_MIN = 5;
const ACCOUNTS_MAX = 256;
const OTHERS = "";

export class FailureShare {
  #startMs = Number.NEGATIVE_INFINITY;
  #requests = 0;
  #failures = 0;
  readonly #byAccount = new Map<string, number>();

  begin(nowMs: number): void {
    if (nowMs - this.#startMs > WINDOW_MS) {
      this.reset();
      this.#startMs = nowMs;
    }
    this.#requests += 1;
  }

  /** Where most fail: by whose requests, `{}` by those of many. */
  failed(accountId: string): { readonly accountId?: string } | undefined {
    const name = this.#byAccount.has(accountId) || this.#byAccount.size < ACCOUNTS_MAX ? accountId : OTHERS;
    this.#byAccount.set(name, (this.#byAccount.get(name) ?? 0) + 1);
    this.#failures += 1;
    if (this.#requests < REQUESTS_MIN || this.#failures * 2 <= this.#requests) return undefined;
    const [most, mostAccountId] = this.#most();
    if (most * 2 <= this.#failures) return {};
    const ofOthers = this.#failures - most;
    const mostOfOthersFail = ofOthers >= FAILURES_OF_OTHERS_MIN && ofOthers * 2 > this.#requests - most;
    return mostOfOthersFail ? {} : { accountId: mostAccountId };
  }

  reset(): void {
    this.#requests = 0;
    this.#failures = 0;
    this.#byAccount.clear();
  }

  #most(): readonly [number, string] {
    let most = 0;
    let account = OTHERS;
    for (const [id, failures] of this.#byAccount)
      if (failures > most) {
        most = failures;
        account = id;
      }
    return [most, account];
  }
}
