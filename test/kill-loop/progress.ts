/** How far a long run is, on one line now and then, where the command asks for it. */

const EVERY_MS = 10_000;

export class Progress {
  readonly #isOn = process.env["TOLLGATE_KILL_PROGRESS"] === "1";
  readonly #startMs = performance.now();
  #toldMs = this.#startMs;
  #kills = 0;

  constructor(
    private readonly planned: number,
    private readonly problems: readonly string[],
  ) {}

  /** One more death, and at most one line each ten seconds. */
  died(): void {
    this.#kills += 1;
    const nowMs = performance.now();
    if (!this.#isOn || nowMs - this.#toldMs < EVERY_MS) return;
    this.#toldMs = nowMs;
    const seconds = Math.round((nowMs - this.#startMs) / 1_000);
    this.tell(`${this.#kills} of ${this.planned} kills, ${seconds} s, ${this.problems.length} problems`);
  }

  /** One line at once: what went wrong is of use long before the end. */
  tell(line: string): void {
    if (this.#isOn) process.stdout.write(`kill-loop: ${line}\n`);
  }
}
