/** Gives requests that the ledger charged and that have no record the one that can be made, once at a time. */
import { adoptRequests, type AdoptionParts, SETTLED_MS } from "./adoption.js";

/** How long nobody looks again for requests without a record, where some could not be given one. */
const LOOK_AGAIN_MS = 30_000;
/** How far back it is looked where nobody says how far. */
const BACK_MS = 3_600_000;
/** How long after a recovery what it resolved is looked for: the time of day may have been set back a little. */
const RECOVERED_MS = SETTLED_MS + 1_000;

export class Adopter {
  #lookedMs = -Infinity;
  #running: Promise<number> | undefined;
  /** When the first of the requests that lost their record ended; Infinity where none is known to have. */
  #lostSinceMs = Infinity;
  /** Those that nobody has looked after yet. */
  #recoveries = 0;

  constructor(
    private readonly parts: AdoptionParts & {
      readonly nowMs: () => number;
      readonly onError?: (error: unknown) => void;
    },
  ) {}

  /** Looks through a time, and says how many had none: 0 where somebody looked just now, or is looking. */
  async adopt(fromMs: number, toMs: number): Promise<number> {
    const nowMs = this.parts.nowMs();
    if (!this.#mayLook(nowMs)) return 0;
    this.#running = adoptRequests(fromMs, toMs, nowMs, this.parts);
    try {
      const adopted = await this.#running;
      if (adopted === 0) this.#lookedMs = nowMs;
      return adopted;
    } finally {
      this.#running = undefined;
    }
  }

  /** The same of the last hour, for somebody who does not wait. */
  adoptSoon(): void {
    const nowMs = this.parts.nowMs();
    // Where nobody looks now, what was lost stays to be looked for.
    if (!this.#mayLook(nowMs)) return;
    const lostSinceMs = this.#lostSinceMs;
    const looked = (): void => {
      if (this.#lostSinceMs === lostSinceMs) this.#lostSinceMs = Infinity;
    };
    const failed = (error: unknown): void => this.parts.onError?.(error);
    this.adopt(Math.min(nowMs - BACK_MS, lostSinceMs), nowMs).then(looked, failed);
  }

  #mayLook(nowMs: number): boolean {
    return this.#running === undefined && nowMs - this.#lookedMs >= LOOK_AGAIN_MS;
  }

  /** The same once records are stored again, of all that ended since some could not be. */
  adoptLost(sinceMs: number): void {
    this.#lostSinceMs = Math.min(this.#lostSinceMs, sinceMs);
    this.adoptRecovered();
  }

  /**
   * The same after a recovery, whose requests nobody else gives a record: as soon as none can be on its way, whoever
   * looked before. Keeps no process alive.
   */
  adoptRecovered(): void {
    this.#recoveries += 1;
    if (this.#recoveries === 1) this.#lookLater();
  }

  #lookLater(): void {
    const seen = this.#recoveries;
    setTimeout(() => void this.#lookAnew(seen), RECOVERED_MS).unref();
  }

  async #lookAnew(seen: number): Promise<void> {
    await this.#running?.catch(() => undefined);
    this.#lookedMs = -Infinity;
    this.adoptSoon();
    // What was resolved while this waited is too young for it.
    this.#recoveries -= seen;
    if (this.#recoveries > 0) this.#lookLater();
  }
}
