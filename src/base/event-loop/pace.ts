/**
 * How often something may come from one owner: so many in one go, and more with the time. Whoever has few at once may
 * have many a second. A process counts by itself. Pure.
 */
import { GatewayError } from "../errors.js";

export interface Pace {
  /** How many may come in one go. */
  readonly burst: number;
  /** How many more may come each second. */
  readonly perSecond: number;
}

/** Of what one key asks and changes nothing by: a page of the console asks for ten. */
export const CALLS_PACE: Pace = { burst: 600, perSecond: 40 };
/** Beyond so many that are remembered those are forgotten that may have all of theirs again. */
const REMEMBERED_MIN = 10_000;

/** What one owner has left. */
export interface Allowance {
  readonly pace: Pace;
  left: number;
  atMs: number;
}

export class Allowances {
  readonly #byName = new Map<string, Allowance>();
  #forgetAt = REMEMBERED_MIN;

  /** `nowMs` is monotonic. */
  constructor(private readonly nowMs: () => number) {}

  /** How many are remembered. */
  get size(): number {
    return this.#byName.size;
  }

  /** What this one has left now. */
  of(name: string, pace: Pace): Allowance {
    const nowMs = this.nowMs();
    const known = this.#byName.get(name);
    if (known !== undefined) {
      known.left = leftAt(known, nowMs);
      known.atMs = nowMs;
      return known;
    }
    if (this.#byName.size >= this.#forgetAt) this.#forget(nowMs);
    const made = { pace, left: pace.burst, atMs: nowMs };
    this.#byName.set(name, made);
    return made;
  }

  /** At most twice as many are remembered as came within the time in which a burst comes back. */
  #forget(nowMs: number): void {
    for (const [name, one] of this.#byName) if (leftAt(one, nowMs) >= one.pace.burst) this.#byName.delete(name);
    this.#forgetAt = Math.max(REMEMBERED_MIN, 2 * this.#byName.size);
  }
}

/** Throws RATE_LIMITED where nothing is left of what came from `owner`; `what` is its plural, such as calls. */
export function requireLeft({ pace, left }: Allowance, what: string, owner: string): void {
  if (left >= 1) return;
  throw new GatewayError("ERROR_REASON_RATE_LIMITED", {
    limit: `${what} a minute`,
    owner,
    limit_value: String(pace.perSecond * 60),
    remaining: "0",
    reset_ms: String(Math.ceil(((1 - left) * 1_000) / pace.perSecond)),
  });
}

function leftAt({ pace, left, atMs }: Allowance, nowMs: number): number {
  return Math.min(pace.burst, left + ((nowMs - atMs) * pace.perSecond) / 1_000);
}
