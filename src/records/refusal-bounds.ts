/**
 * How many refused requests leave records: a client that does not heed a refusal asks again at once, for nothing, and
 * each record is kept for days. Nobody's refusals leave those of others out. Pure.
 */

const OF_ACCOUNT_MAX = 3_000;
const OF_ALL_MAX = 12_000;
const MINUTE_MS = 60_000;

export interface LeftOut {
  readonly account: string;
  readonly count: number;
}

interface Counted {
  kept: number;
  leftOut: number;
}

export class RefusalBounds {
  /** What was counted in this minute, by account. */
  readonly #counted = new Map<string, Counted>();
  #minute = 0;
  #all = 0;

  /** `onLeftOut` hears of a minute that is over, of each account whose refusals did not all leave a record. */
  constructor(private readonly onLeftOut: (leftOut: LeftOut) => void) {}

  /** True where this refusal leaves a record. */
  mayKeep(account: string, timeMs: number): boolean {
    const minute = Math.floor(timeMs / MINUTE_MS);
    if (minute !== this.#minute) this.#begin(minute);
    let counted = this.#counted.get(account);
    if (counted === undefined) this.#counted.set(account, (counted = { kept: 0, leftOut: 0 }));
    // Where the room of all is taken, whoever has had less than an even share of it still gets in.
    const isFull = this.#all >= OF_ALL_MAX && counted.kept >= OF_ALL_MAX / this.#counted.size;
    if (counted.kept >= OF_ACCOUNT_MAX || isFull) {
      counted.leftOut += 1;
      return false;
    }
    counted.kept += 1;
    this.#all += 1;
    return true;
  }

  /** Tells of the minute that runs. */
  tell(): void {
    for (const [account, { leftOut }] of this.#counted) if (leftOut > 0) this.onLeftOut({ account, count: leftOut });
    this.#counted.clear();
    this.#all = 0;
  }

  #begin(minute: number): void {
    this.tell();
    this.#minute = minute;
  }
}
