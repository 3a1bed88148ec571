/**
 * Renews the credit lines of accounts without traffic when a UTC day begins, so that their balances and statements are
 * right. An account with traffic does not depend on it: the first hold of a period renews the line. Each node does
 * this, and a period is granted once.
 */
import { dayNumber } from "../base/day.js";
import type { CreditLines } from "../ledger/credit-lines.js";
import type { Log } from "../observe/log.js";

const LOOK_MS = 60_000;

export interface CreditLineTimerOptions {
  readonly lines: Pick<CreditLines, "renewAll">;
  readonly nowMs: () => number;
  readonly log: Pick<Log, "error">;
}

export class CreditLineTimer {
  #day = Number.NaN;
  #running: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly options: CreditLineTimerOptions) {
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref();
    void this.look();
  }

  /** Renews all lines if it did not do so on this UTC day. Never rejects; what failed is tried again in a minute. */
  look(): Promise<void> {
    const day = dayNumber(this.options.nowMs());
    if (day === this.#day) return this.#running ?? Promise.resolve();
    this.#running ??= this.options.lines
      .renewAll()
      .then(() => void (this.#day = day))
      .catch((err: unknown) => this.options.log.error({ err }, "credit lines were not renewed; retrying in a minute"))
      .finally(() => (this.#running = undefined));
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }
}
