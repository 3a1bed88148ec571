/**
 * Sends what is due: claims deliveries in the database, so that one node sends each and a node that dies leaves them to
 * the others, and writes down how each attempt went.
 */
import type { AlertStep, Store } from "../store/store.js";
import type { Posted } from "./post.js";
import { type Columns, type DeliveryRow, type EventRow, number, toDelivery, toEvent } from "./rows.js";

/** Hands an event to its receiver. `gone`: there is no such receiver any more. Never rejects. */
export type Send = (delivery: DeliveryRow, event: EventRow) => Promise<Posted | "gone">;

export interface SenderParts {
  readonly store: Pick<Store, "alertSteps">;
  readonly send: Send;
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

/** How long an attempt is its node's own; then it counts as lost, and another one is made. */
const CLAIM_MS = 60_000;
/** Attempts at once of this node. */
const RUNNING_MAX = 16;
/** Attempts at once of one account, on all nodes. */
const OF_ACCOUNT_MAX = 8;
/** What other nodes leave, and what was made while this one did not look, is found after so long. */
const LOOK_MS = 5_000;
const LOOK_MS_MIN = 50;
/** The pauses between attempts. The last one comes again until the 24 hours are over. */
const PAUSES_MS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 21_600].map((seconds) => seconds * 1_000);
/** Of each pause, so that what failed together does not come back together. */
const JITTER = 0.1;
/** The receiver says that it wants no more. */
const GONE = 410;

export class Sender {
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #again = false;
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(private readonly parts: SenderParts) {}

  start(): void {
    this.poke();
  }

  /** There may be something to send. */
  poke(): void {
    // What came while it looks may not be in what it read, and the end of that look sets another time.
    if (this.#looking) this.#again = true;
    else this.#lookIn(0);
  }

  /** Waits for attempts that run, which are bounded. What is not sent yet waits in the database. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #lookIn(afterMs: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), afterMs).unref();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    this.#again = false;
    let nextMs = LOOK_MS;
    try {
      nextMs = await this.#claim();
    } catch (error) {
      this.parts.onError(error);
    } finally {
      this.#looking = false;
    }
    this.#lookIn(this.#again ? 0 : nextMs);
  }

  /** Begins what is due, as far as there is room. Returns when to look again. */
  async #claim(): Promise<number> {
    const room = RUNNING_MAX - this.#running;
    // Whatever ends makes room, and looks again.
    if (room <= 0) return LOOK_MS;
    const nowMs = this.parts.nowMs();
    const claim = { nowMs, busyUntilMs: nowMs + CLAIM_MS, count: room, accountCount: OF_ACCOUNT_MAX };
    const [claimed = [], [next] = []] = await this.#steps([
      { statement: "claimDue", values: claim },
      { statement: "nextDue", values: { nowMs } },
    ]);
    for (const row of claimed) void this.#attempt(toDelivery(row));
    if (next === undefined || next["next"] === null) return LOOK_MS;
    return Math.min(LOOK_MS, Math.max(LOOK_MS_MIN, number(next, "next") - nowMs));
  }

  async #attempt(delivery: DeliveryRow): Promise<void> {
    this.#running += 1;
    try {
      const [[row] = []] = await this.#steps([{ statement: "event", values: { id: delivery.eventId } }]);
      await this.#send(delivery, row);
    } catch (error) {
      // Its claim ends by itself, and then it is due again.
      this.parts.onError(error);
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#idle?.();
      this.poke();
    }
  }

  async #send(delivery: DeliveryRow, event: Columns | undefined): Promise<void> {
    const startTimeMs = this.parts.nowMs();
    const sent = event === undefined ? "gone" : await this.parts.send(delivery, toEvent(event));
    const posted: Posted =
      sent === "gone" ? { status: 0, problem: "the webhook or member no longer exists", answer: "" } : sent;
    const endTimeMs = this.parts.nowMs();
    const durationMs = Math.max(0, endTimeMs - startTimeMs);
    const { id, attempts } = delivery;
    await this.#steps([
      { statement: "insertAttempt", values: { deliveryId: id, number: attempts, startTimeMs, durationMs, ...posted } },
      { statement: "endAttempt", values: { id, number: attempts, ...this.#after(delivery, sent, endTimeMs) } },
    ]);
  }

  #after(delivery: DeliveryRow, sent: Posted | "gone", nowMs: number): AlertStep["values"] {
    const over = (state: string): AlertStep["values"] => ({ state, nextTimeMs: nowMs, endTimeMs: nowMs });
    if (sent === "gone" || sent.status === GONE) return over("failed");
    if (sent.problem === "") return over("delivered");
    const nextTimeMs = nowMs + this.#pauseMs(delivery);
    return nextTimeMs >= delivery.giveUpMs ? over("failed") : { state: "waiting", nextTimeMs, endTimeMs: null };
  }

  #pauseMs({ attempts, attemptsFrom }: DeliveryRow): number {
    const failed = Math.max(1, attempts - attemptsFrom);
    const pauseMs = PAUSES_MS[Math.min(failed, PAUSES_MS.length) - 1] ?? LOOK_MS;
    return Math.round(pauseMs * (1 + JITTER * (2 * this.parts.random() - 1)));
  }

  #steps(steps: readonly AlertStep[]): ReturnType<Store["alertSteps"]> {
    return this.parts.store.alertSteps(steps);
  }
}
