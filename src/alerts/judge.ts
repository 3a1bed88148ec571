/** When an alert tells of a subject, and when it takes that back: nothing that goes to and fro is told each time. */

/** What was seen of one subject of an alert. */
export interface Reading {
  /** Such as `account acme`. */
  readonly subject: string;
  /** Empty: the gateway as a whole. */
  readonly subjectAccountId: string;
  /** True where the condition is met. */
  readonly isMet: boolean;
  /** True where the subject is well away from the condition; what lies between changes nothing. */
  readonly isOver: boolean;
  readonly message: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** What is to be told of a subject now. */
export type Verdict = "fire" | "resolve" | "stay";

const MINUTE_MS = 60_000;

/**
 * Remembers since when each subject's condition is met, or over. What was told is the database's to know; what is only
 * waited for is lost with the process, and then waited for anew.
 */
export class Judge {
  readonly #since = new Map<string, { readonly isMet: boolean; readonly timeMs: number }>();

  /** `isTold`: an event said that the condition is met, and none that it is over. */
  judge(alertId: string, reading: Reading, isTold: boolean, forMinutes: number, nowMs: number): Verdict {
    const place = `${alertId} ${reading.subject}`;
    const leads = isTold ? reading.isOver : reading.isMet;
    if (!leads) {
      this.#since.delete(place);
      return "stay";
    }
    let since = this.#since.get(place);
    if (since === undefined || since.isMet !== reading.isMet) {
      since = { isMet: reading.isMet, timeMs: nowMs };
      this.#since.set(place, since);
    }
    const waitMs = isTold ? Math.max(1, forMinutes) * MINUTE_MS : forMinutes * MINUTE_MS;
    if (nowMs - since.timeMs < waitMs) return "stay";
    this.#since.delete(place);
    return isTold ? "resolve" : "fire";
  }

  /** Forgets what an alert waited for. */
  forget(alertId: string): void {
    for (const place of this.#since.keys()) if (place.startsWith(`${alertId} `)) this.#since.delete(place);
  }
}
