/**
 * Whether Redis is asked at all: where it is slow or does not answer, this node decides for itself until it is well
 * again.
 */

/** So many late answers with no quick one between them open the breaker: one may be a pause of any machine. */
const SLOW_MAX = 3;
/** So many quick answers in a row close it. */
const QUICK_MIN = 3;

export type Trouble = "slow" | "unreachable";

/**
 * Knows commands by the order in which they were sent. Only what was sent after the last bad news says anything new: of
 * all that waited while Redis paused once, one is evidence.
 */
export class Breaker {
  #sent = 0;
  /** The last command that was sent when something was late, or when the breaker opened or closed. */
  #heard = 0;
  /** The last one that was sent when it opened or closed. */
  #changed = 0;
  #slow = 0;
  #quick = 0;
  #trouble: Trouble | undefined;

  /** `onChange` hears why it opened; undefined where it closed. */
  constructor(private readonly onChange: (trouble: Trouble | undefined) => void) {}

  /** Why it is open; undefined while it is closed. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  /** A command is sent. Returns what names it. */
  sent(): number {
    return ++this.#sent;
  }

  /** Its answer came in time. */
  quick(command: number): void {
    if (command <= this.#heard) return;
    this.#slow = 0;
    if (this.#trouble !== undefined && ++this.#quick >= QUICK_MIN) this.#change(undefined);
  }

  /** Its answer did not come in time. */
  late(command: number): void {
    if (command <= this.#heard) return;
    this.#heard = this.#sent;
    this.#quick = 0;
    if (++this.#slow >= SLOW_MAX && this.#trouble === undefined) this.#change("slow");
  }

  /** It has no answer, and is not waited for any more. */
  failed(command: number): void {
    if (command <= this.#changed) return;
    this.#quick = 0;
    if (this.#trouble === undefined) this.#change("unreachable");
  }

  #change(trouble: Trouble | undefined): void {
    this.#trouble = trouble;
    this.#heard = this.#sent;
    this.#changed = this.#sent;
    this.#slow = 0;
    this.#quick = 0;
    this.onChange(trouble);
  }
}
