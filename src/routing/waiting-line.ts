/** Requests that wait for a place at a full target. The accounts take turns, and each request is served once. */
import type { CancelSignal } from "../base/cancellation.js";
import { FairQueue, type QueuedJob } from "../base/fair-queue.js";
import { whenReady } from "../base/when-ready.js";
import type { Entered, Full, SubjectLimits, TakenLimits } from "./target-limiter.js";
import type { Target } from "./model.js";

/** How often a line tries by itself: other processes do not announce the places that they free. */
const POLL_MS = 250;

/** One request that waits in the lines of one target or several. */
export class Waiter {
  readonly #places = new Map<Place, WaitingLine>();
  #isOver = false;
  readonly #timer: NodeJS.Timeout;
  readonly #leave = (): void => this.leave();

  /** Resolves with undefined if nothing is free after `waitMs`, or the client left. */
  constructor(
    waitMs: number,
    private readonly signal: CancelSignal,
    private readonly resolve: (entered: Entered | undefined) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.#timer = setTimeout(this.#leave, waitMs);
    signal.addEventListener("abort", this.#leave, { once: true });
    if (signal.aborted) this.leave();
  }

  /** The request no longer waits. */
  leave(): void {
    this.#end(() => this.resolve(undefined));
  }

  joined(place: Place, line: WaitingLine): void {
    if (this.#isOver) line.leave(place);
    else this.#places.set(place, line);
  }

  /** Leaves one line. The request stops waiting once it is in no line. */
  left(place: Place): void {
    this.#places.delete(place);
    if (this.#places.size === 0) this.leave();
  }

  /** A place came free. It is given back if the request no longer waits. */
  enter(target: Target, taken: TakenLimits): void {
    if (this.#isOver) taken.giveBack();
    else this.#end(() => this.resolve({ target, taken }));
  }

  fail(error: unknown): void {
    this.#end(() => this.reject(error));
  }

  #end(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.signal.removeEventListener("abort", this.#leave);
    for (const [place, line] of this.#places) line.leave(place);
    settle();
  }
}

/** A request in one line: it takes the turn of its account, and counts as one. */
export class Place implements QueuedJob<"place"> {
  readonly lane = "place";
  sizeLeft = 1;
  hasLeft = false;

  constructor(
    readonly account: string,
    /** The most tokens that it can use. */
    readonly tokens: number,
    readonly target: Target,
    readonly waiter: Waiter,
  ) {}
}

/** What a line needs of the limits that it waits for. */
export interface LineGround {
  /** Takes the limits of a target for a request of the line. */
  enter(place: Place): TakenLimits | Full | Promise<TakenLimits | Full>;
  /** The request waits for another limit of its target. */
  moved(place: Place, full: Full): void;
  emptied(): void;
}

/** The requests that wait for one limit, in this process. */
export class WaitingLine {
  readonly #queue: FairQueue<"place", Place>;
  readonly #timer: NodeJS.Timeout;
  #isTrying = false;
  #triesAgain = false;

  constructor(
    private readonly subject: string,
    length: number,
    private readonly ground: LineGround,
  ) {
    this.#queue = new FairQueue({ place: { jobs: length, size: length, accountJobs: length, accountSize: length } });
    this.#timer = setInterval(() => this.wake(), POLL_MS).unref();
  }

  get size(): number {
    return this.#queue.size;
  }

  /** False if the line is full. */
  join(place: Place): boolean {
    if (!this.#queue.add(place)) return false;
    place.waiter.joined(place, this);
    return true;
  }

  /** The request no longer waits here. */
  leave(place: Place): void {
    this.#remove(place, 0);
  }

  /** A place may be free: those whose turn it is enter, one after the other, while there is room. */
  wake(): void {
    if (this.#isTrying) {
      this.#triesAgain = true;
      return;
    }
    const place = this.#queue.next();
    if (place === undefined) return;
    this.#isTrying = true;
    this.#triesAgain = false;
    const failed = (error: unknown): void => {
      this.#isTrying = false;
      place.waiter.fail(error);
    };
    try {
      whenReady(this.ground.enter(place), (result) => this.#tried(place, result), failed);
    } catch (error) {
      failed(error);
    }
  }

  #tried(place: Place, result: TakenLimits | Full): void {
    this.#isTrying = false;
    if (!("refusedBy" in result)) {
      // The account's turn is over once a request of its entered.
      this.#remove(place, 1);
      place.waiter.enter(place.target, result);
      return this.wake();
    }
    const isOther = result.refusedBy !== this.subject;
    if (isOther) {
      this.ground.moved(place, result);
      this.#remove(place, 0);
      place.waiter.left(place);
    }
    if (isOther || this.#triesAgain) this.wake();
  }

  #remove(place: Place, turns: number): void {
    if (place.hasLeft) return;
    place.hasLeft = true;
    place.sizeLeft -= turns;
    this.#queue.took(place, turns, true);
    if (this.#queue.size > 0) return;
    clearInterval(this.#timer);
    this.ground.emptied();
  }
}

/** The queue of the limit that a target refused a request for; undefined if the request cannot wait for it. */
export function queueOf({ target, refusedBy, limit }: Full): SubjectLimits["queue"] {
  return limit === "concurrency" ? target.limits?.find(({ subject }) => subject === refusedBy)?.queue : undefined;
}
