/** Work that has had its share of a turn of the event loop waits for a later one, in the order in which it came. */

/** What one turn has time for, of all that waits. */
const TURN_MS = 4;

export class LoopShares {
  #waiting: (() => void)[] = [];
  #isDue = false;

  /** `work` must not throw. */
  wait(work: () => void): void {
    this.#waiting.push(work);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isDue || this.#waiting.length === 0) return;
    this.#isDue = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    // What comes while these run waits for the next turn, so that nobody has two shares of one.
    const due = this.#waiting;
    this.#waiting = [];
    const endMs = performance.now() + TURN_MS;
    let done = 0;
    do due[done]?.();
    while (++done < due.length && performance.now() < endMs);
    if (done < due.length) this.#waiting = [...due.slice(done), ...this.#waiting];
    this.#isDue = false;
    this.#schedule();
  }
}
