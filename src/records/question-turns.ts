/**
 * Whose question the thread of records answers next: the accounts take turns, so that whoever asks without end waits
 * behind its own questions alone. Pure.
 */
import { GatewayError } from "../base/errors.js";

/** Questions that the thread has at once: it never waits for the next one, and nobody waits for many. */
const ASKED_MAX = 2;
/** A question about usage is one for each day that is compared with the ledger. */
const OF_ACCOUNT_MAX = 512;
const OF_ALL_MAX = 4_096;

const OPERATORS = "";

export class QuestionTurns {
  /** What waits, by account; the account whose turn is next stands first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;
  #asked = 0;

  /** Asks at the account's turn; operators, and we ourselves, ask as one. Rejects with RATE_LIMITED or OVERLOADED. */
  async run<Result>(account: string, ask: () => Promise<Result>): Promise<Result> {
    if (this.#asked >= ASKED_MAX) await this.#turn(account);
    else this.#asked += 1;
    try {
      return await ask();
    } finally {
      this.#next();
    }
  }

  /** Resolves with a place among those that the thread has. */
  #turn(account: string): Promise<void> {
    const waiting = this.#waiting.get(account) ?? [];
    if (account !== OPERATORS && waiting.length >= OF_ACCOUNT_MAX) throw ofAccountFull(account);
    if (this.#count >= OF_ALL_MAX)
      throw new GatewayError("ERROR_REASON_OVERLOADED", {
        problem: "too many queries of request records",
        retry_after_ms: "1000",
      });
    this.#count += 1;
    this.#waiting.set(account, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  /** Gives the place on, or up where nobody waits. */
  #next(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#asked -= 1;
      return;
    }
    const [account, waiting] = first;
    const begin = waiting.shift();
    this.#waiting.delete(account);
    if (waiting.length > 0) this.#waiting.set(account, waiting);
    this.#count -= 1;
    begin?.();
  }
}

function ofAccountFull(account: string): GatewayError {
  return new GatewayError("ERROR_REASON_RATE_LIMITED", {
    limit: "questions at once",
    owner: `account ${account}`,
    limit_value: String(OF_ACCOUNT_MAX),
    remaining: "0",
    reset_ms: "1000",
  });
}
