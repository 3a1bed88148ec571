/**
 * Where requests wait for their start while more come than this process can work off: account by account in turn, each
 * for a bounded time, after which it is refused. The bounds are those of controlled delay, as Maurer describes them for
 * servers ("Fail at Scale", ACM Queue 13.8); that each account has a queue of its own is as in FQ-CoDel (RFC 8290).
 */
import { GatewayError } from "../errors.js";
import { listeningClock } from "./listening-clock.js";

/**
 * Requests have so much of a turn of the event loop to begin in; the rest is for what runs already. With a longer slice
 * more would run at once, each turn would take longer, and a request takes many turns; no more would be answered.
 */
const SLICE_MS = 2;
/**
 * Node accepts one connection in each turn: after so many turns in a row that accepted one, others wait to be accepted.
 * Turns are short then, and what begins has as much of them as what is read.
 */
const ACCEPTING_TURNS = 16;
/** How long a request may wait. */
const WAIT_MS_MAX = 1_500;
/** An account all of whose requests waited longer than this, for so long, has a standing queue. */
const PROMPT_WAIT_MS = 50;
const STANDING_MS = 1_000;
/** A shorter queue is not standing: it is worked off soon, where the machine lets the process. */
const STANDING_SIZE = 32;
/** What waited before a pause of so long says nothing any more. */
const PAUSE_MS = 2_000;
/** How long they may wait then: a short queue loses no throughput, and a long one only delays. */
const STANDING_WAIT_MS_MAX = 100;
/** How long requests of an account may wait that asks for little: they wait only where the process was held up. */
const LIGHT_WAIT_MS_MAX = 10_000;
/** So much of the turn before counts: one that was held up once is no overload, and one that always is is found. */
const DELAY_MS_MAX = 200;
/** More are refused at once, the oldest of the longest queue first. */
const WAITING_MAX = 8_192;
/** So many are refused at most before something else has its turn. */
const REFUSED_AT_ONCE_MAX = 256;
/** How often the delay of the event loop is measured while requests come. */
const PROBE_MS = 20;
/** What accounts asked counts half after so long. */
const HALF_LIFE_MS = 1_000;
/** One that asks for so much less than an equal part of all that is asked is not to blame, however little begins. */
const LIGHT_TIMES = 4;
/** With twice as many requests as can be worked off each should come at half its rate, and so on. */
const RETRY_SECONDS_MAX = 8;

/** What requests are refused with that waited too long, by the seconds to wait. Each is made once, with its stack. */
const REFUSALS = Array.from({ length: RETRY_SECONDS_MAX }, (_, index) => {
  const problem = "it is overloaded";
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem, retry_after_ms: String(1_000 * (index + 1)) });
});

export interface RequestQueueOptions {
  /** Default: the process's clock. */
  readonly monotonicMs?: (() => number) | undefined;
  /** Hears of each that is refused. It must not throw. */
  readonly onRefused?: ((error: GatewayError) => void) | undefined;
}

export interface QueuedRequest {
  /** Begins its work. It must not throw. */
  start(): void;
  /** Answers that there is too much work: one of a few errors. It must not throw. */
  refuse(error: GatewayError): void;
}

/** Those of one account. */
class AccountQueue {
  readonly #requests: QueuedRequest[] = [];
  readonly #sinceMs: number[] = [];
  #first = 0;
  /** How many of its requests came lately. */
  asked = 0;
  /** When one began last that had hardly waited, or the first came. */
  promptMs = -Infinity;
  #pushedMs = -Infinity;

  get size(): number {
    return this.#requests.length - this.#first;
  }

  /** How long the oldest has waited, but for the time in which this process was held up. */
  waitedMs(nowMs: number): number {
    const heldMs = listeningClock.at(nowMs);
    return heldMs - (this.#sinceMs[this.#first] ?? heldMs);
  }

  push(request: QueuedRequest, nowMs: number, delayMs: number): void {
    if (this.size === 0 && nowMs - this.#pushedMs > PAUSE_MS) this.promptMs = nowMs;
    this.#pushedMs = nowMs;
    this.#requests.push(request);
    this.#sinceMs.push(listeningClock.at(nowMs) - delayMs);
  }

  shift(): QueuedRequest | undefined {
    const request = this.#requests[this.#first++];
    // What is gone is cut off in large pieces: to move all others for each would cost more than to refuse it.
    if (this.size === 0 || this.#first >= 1_024) {
      this.#requests.splice(0, this.#first);
      this.#sinceMs.splice(0, this.#first);
      this.#first = 0;
    }
    return request;
  }
}

export class RequestQueue {
  readonly #monotonicMs: () => number;
  readonly #accounts = new Map<string, AccountQueue>();
  /** Those with waiting requests, in their turn. */
  #ring: AccountQueue[] = [];
  #size = 0;
  /** How many of all requests came lately, and how many of them began. */
  #asked = 0;
  #begun = 0;
  #halvedMs = 0;
  /** When the first request of this turn of the event loop may have come; undefined before it. */
  #turnMs: number | undefined;
  #isScheduled = false;
  #hasAccepted = false;
  /** Turns in a row that accepted a connection. */
  #acceptingTurns = 0;
  /** What begins may take of turns that accept. */
  #creditMs = 0;
  /** When this turn began to read. */
  #readMs = 0;
  /** When the slice that runs is over. */
  #sliceEndMs = 0;
  /** How long the turn before this one took, as far as that counts. */
  #delayMs = 0;
  #probe: NodeJS.Timeout | undefined;
  #probeDueMs = 0;
  /** True where a request came since the last probe. */
  #isBusy = false;
  readonly #onRefused: RequestQueueOptions["onRefused"];

  constructor({ monotonicMs = () => performance.now(), onRefused }: RequestQueueOptions = {}) {
    this.#monotonicMs = monotonicMs;
    this.#onRefused = onRefused;
  }

  get size(): number {
    return this.#size;
  }

  /** True where a request may begin now, as nearly all may. Any other is pushed. */
  get isFree(): boolean {
    if (this.#size > 0 || this.#acceptingTurns >= ACCEPTING_TURNS) return false;
    const nowMs = this.#monotonicMs();
    return nowMs - (this.#turnMs ?? this.#beginTurn(nowMs)) < SLICE_MS;
  }

  /** A connection was accepted. */
  accepted(): void {
    this.#hasAccepted = true;
    if (this.#turnMs === undefined) this.#beginTurn(this.#monotonicMs());
  }

  /** Starts or refuses it later. `account` is whose request it is; empty where nobody knows. */
  push(account: string, request: QueuedRequest): void {
    const nowMs = this.#monotonicMs();
    if (this.#turnMs === undefined) this.#beginTurn(nowMs);
    if (this.#size >= WAITING_MAX) this.#refuseOldest();
    let queue = this.#accounts.get(account);
    if (queue === undefined) this.#accounts.set(account, (queue = new AccountQueue()));
    if (queue.size === 0) this.#ring.push(queue);
    queue.push(request, nowMs, this.#delayMs);
    queue.asked += 1;
    this.#asked += 1;
    this.#size += 1;
  }

  /** Resolves when the request may begin; undefined where that is now. Rejects with OVERLOADED. */
  enter(account: () => string): Promise<void> | undefined {
    if (this.isFree) return undefined;
    return new Promise((resolve, reject) => {
      this.push(account(), { start: resolve, refuse: reject });
    });
  }

  #beginTurn(nowMs: number): number {
    this.#schedule();
    this.#isBusy = true;
    if (this.#probe === undefined) this.#watch(nowMs);
    if (this.#size === 0) this.#readMs = nowMs;
    return (this.#turnMs = nowMs - this.#delayMs);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#endTurn);
  }

  /** All sockets of this turn were read. */
  readonly #endTurn = (): void => {
    this.#isScheduled = false;
    this.#turnMs = undefined;
    this.#delayMs = 0;
    this.#acceptingTurns = this.#hasAccepted ? this.#acceptingTurns + 1 : 0;
    this.#hasAccepted = false;
    if (this.#size === 0) return;
    const nowMs = this.#monotonicMs();
    this.#halve(nowMs);
    this.#sliceEndMs = nowMs + this.#sliceMs(nowMs);
    this.#step();
  };

  /** What is begun in a turn may take longer than is left for it: the next turns have less then. */
  #sliceMs(nowMs: number): number {
    const isAccepting = this.#acceptingTurns >= ACCEPTING_TURNS;
    this.#creditMs = isAccepting ? Math.min(SLICE_MS, this.#creditMs + nowMs - this.#readMs) : SLICE_MS;
    return this.#creditMs;
  }

  /** Begins the next one, and goes on once all that it did at once is done, so that its time counts. */
  readonly #step = (): void => {
    const nowMs = this.#monotonicMs();
    const queue = nowMs < this.#sliceEndMs ? this.#next(nowMs) : undefined;
    if (queue === undefined) {
      this.#creditMs = this.#sliceEndMs - nowMs;
      this.#readMs = nowMs;
      if (this.#size > 0) this.#schedule();
      return;
    }
    if (queue.waitedMs(nowMs) < PROMPT_WAIT_MS) queue.promptMs = nowMs;
    this.#begun += 1;
    this.#size -= 1;
    const request = queue.shift();
    if (queue.size > 0) this.#ring.push(queue);
    request?.start();
    queueMicrotask(() => process.nextTick(this.#step));
  };

  /** The account whose turn it is, after what waited too long was refused. It is in the ring no more. */
  #next(nowMs: number): AccountQueue | undefined {
    let left = REFUSED_AT_ONCE_MAX;
    for (let queue = this.#ring.shift(); queue !== undefined; queue = this.#ring.shift()) {
      for (; left > 0 && queue.size > 0 && this.#isOverdue(queue, nowMs); left--) this.#refuse(queue);
      if (left > 0 && queue.size > 0) return queue;
      if (left > 0) continue;
      if (queue.size > 0) this.#ring.unshift(queue);
      return undefined;
    }
    return undefined;
  }

  /** An account that asks for less than an equal share of what begins does not pay for the queues of others. */
  #isOverdue(queue: AccountQueue, nowMs: number): boolean {
    const waitedMs = queue.waitedMs(nowMs);
    if (waitedMs <= STANDING_WAIT_MS_MAX) return false;
    const isStanding = queue.size >= STANDING_SIZE && nowMs - queue.promptMs > STANDING_MS;
    const asked = queue.asked * this.#accounts.size;
    const hasItsShare = asked >= this.#begun && asked * LIGHT_TIMES >= this.#asked;
    if (!hasItsShare) return waitedMs > LIGHT_WAIT_MS_MAX;
    return isStanding || waitedMs > WAIT_MS_MAX;
  }

  #refuse(queue: AccountQueue): void {
    this.#size -= 1;
    const times = Math.round(this.#asked / Math.max(1, this.#begun));
    const error = REFUSALS[Math.min(RETRY_SECONDS_MAX, Math.max(1, times)) - 1];
    const request = queue.shift();
    if (error === undefined) return;
    this.#onRefused?.(error);
    request?.refuse(error);
  }

  #refuseOldest(): void {
    const longest = this.#ring.reduce((most, queue) => (queue.size > most.size ? queue : most));
    this.#refuse(longest);
    if (longest.size === 0) this.#ring = this.#ring.filter((queue) => queue !== longest);
  }

  #halve(nowMs: number): void {
    const times = Math.floor((nowMs - this.#halvedMs) / HALF_LIFE_MS);
    if (times < 1) return;
    this.#halvedMs = nowMs;
    this.#begun /= 2 ** times;
    this.#asked = 0;
    for (const [account, queue] of this.#accounts) {
      queue.asked /= 2 ** times;
      if (queue.asked < 1 && queue.size === 0) this.#accounts.delete(account);
      else this.#asked += queue.asked;
    }
  }

  /** A timer that runs late tells how long the turn before took, in which what is read now may have come. */
  #watch(nowMs: number): void {
    this.#probeDueMs = nowMs + PROBE_MS;
    this.#probe = setTimeout(() => {
      const ranMs = this.#monotonicMs();
      listeningClock.ran(this.#probeDueMs);
      this.#delayMs = Math.min(DELAY_MS_MAX, Math.max(0, ranMs - this.#probeDueMs));
      this.#probe = undefined;
      const isBusy = this.#isBusy || this.#size > 0;
      this.#isBusy = false;
      if (isBusy) this.#watch(ranMs);
    }, PROBE_MS).unref();
  }
}
