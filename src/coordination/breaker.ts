/**
 * Whether Redis is asked at all: where it is slow or does not answer, this node decides for itself until it is well
 * again.
 */

/** So many slow answers with no quick one between them open the breaker: one may be a pause of this process. */
const SLOW_MAX = 3;
/** So many quick answers in a row close it. */
const QUICK_MIN = 3;

export type Trouble = "slow" | "unreachable";

export class Breaker {
  #slow = 0;
  #quick = 0;
  #trouble: Trouble | undefined;

  /** `onChange` hears why it opened; undefined where it closed. */
  constructor(private readonly onChange: (trouble: Trouble | undefined) => void) {}

  /** Why it is open; undefined while it is closed. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  /** An answer came in time. */
  quick(): void {
    this.#slow = 0;
    if (this.#trouble === undefined || ++this.#quick < QUICK_MIN) return;
    this.#trouble = undefined;
    this.onChange(undefined);
  }

  /** An answer did not come in time. */
  late(): void {
    this.#quick = 0;
    if (++this.#slow >= SLOW_MAX) this.#open("slow");
  }

  failed(): void {
    this.#quick = 0;
    this.#open("unreachable");
  }

  #open(trouble: Trouble): void {
    if (this.#trouble !== undefined) return;
    this.#trouble = trouble;
    this.onChange(trouble);
  }
}
