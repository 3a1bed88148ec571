/** What nodes share, where there is one node: it stays in the process and answers at once. */
import { GatewayError } from "../base/errors.js";
import {
  type AdmissionRequest,
  type AdmissionResult,
  type Admitted,
  type Coordination,
  type CoordinationState,
  type Demand,
  type Revisions,
  tighter,
  type WindowState,
} from "./coordination.js";
import { Leases } from "./concurrency-slots.js";
import { type Reached, reachedOf, type WindowReading, type WindowStates } from "./limit-decision.js";
import { BUCKET_MS, Window } from "./window.js";

export interface InProcessOptions {
  readonly nowMs: () => number;
  /** How often running requests renew their leases by themselves; 0: only `heartbeat` does. Default: 10 seconds. */
  readonly heartbeatMs?: number | undefined;
  /**
   * The most keys and accounts with limits at once; those with nothing in their windows make room. Default: 50,000,
   * about 60 MB.
   */
  readonly subjectsMax?: number | undefined;
}

export interface InProcessCoordination extends Coordination {
  /** Renews the leases of all running requests. */
  heartbeat(): void;
  /** Keys and accounts that are held in memory, for a gauge. */
  readonly subjectCount: number;
}

const HEARTBEAT_MS = 10_000;
const SUBJECTS_MAX = 50_000;
/**
 * So many of the oldest subjects are looked at for each new one: more than one, so that idle ones go faster than new
 * ones come.
 */
const IDLE_PROBES = 2;
/** A full table is searched for idle subjects at most so often. */
const FULL_SWEEP_MS = 1_000;
const STATE: CoordinationState = { driver: "process", degraded: undefined, nodeCount: 1 };
const NO_DEMANDS: readonly Demand[] = [];

/** Makes the coordination of a single node. Its clock may jump, but time here never goes back. */
export function createInProcessCoordination(options: InProcessOptions): InProcessCoordination {
  return new InProcess(options);
}

/** What is held of one key or account; a window exists from the first request under its limit. */
class Subject {
  requests: Window | undefined;
  tokens: Window | undefined;
  leases: Leases | undefined;

  take({ limits, tokens }: Demand, requestId: string, nowMs: number): void {
    if (limits.requestsPerMinute > 0) (this.requests ??= new Window(nowMs)).take(nowMs, 1);
    if (limits.tokensPerMinute > 0) (this.tokens ??= new Window(nowMs)).take(nowMs, tokens);
    if (limits.concurrency > 0) (this.leases ??= new Leases()).take(requestId, nowMs);
  }

  isIdle(nowMs: number, beatMs: number): boolean {
    return (
      (this.requests?.sum(nowMs) ?? 0) === 0 &&
      (this.tokens?.sum(nowMs) ?? 0) === 0 &&
      (this.leases?.count(nowMs, beatMs) ?? 0) === 0
    );
  }
}

/** One that has not been seen: nothing is taken, and nothing is ever put in. */
const NO_SUBJECT = Object.freeze(new Subject());

class InProcess implements InProcessCoordination {
  readonly isShared = false;
  readonly relays = undefined;
  readonly #clock: () => number;
  readonly #subjectsMax: number;
  readonly #subjects = new Map<string, Subject>();
  readonly #callbacks: ((name: string) => void)[] = [];
  readonly #timer: NodeJS.Timeout | undefined;
  #nowMs = 0;
  #beatMs = 0;
  #fullSweepMs = -Infinity;

  constructor(options: InProcessOptions) {
    this.#clock = options.nowMs;
    this.#subjectsMax = options.subjectsMax ?? SUBJECTS_MAX;
    const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#timer = heartbeatMs > 0 ? setInterval(() => this.heartbeat(), heartbeatMs).unref() : undefined;
    this.heartbeat();
  }

  get subjectCount(): number {
    return this.#subjects.size;
  }

  state(): CoordinationState {
    return STATE;
  }

  admit(request: AdmissionRequest): AdmissionResult {
    return this.#decide(request, true);
  }

  peek(request: AdmissionRequest): AdmissionResult {
    return this.#decide(request, false);
  }

  #decide({ requestId, first = NO_DEMANDS, demands }: AdmissionRequest, takes: boolean): AdmissionResult {
    const nowMs = this.#now();
    const refusedFirst = this.#longest(first, requestId, nowMs);
    if (refusedFirst !== undefined)
      return { admitted: false, firstTaken: false, ...refusedFirst, ...this.#states(first, nowMs) };
    if (takes) this.#take(first, requestId, nowMs);
    const all = first.length === 0 ? demands : demands.length === 0 ? first : [...first, ...demands];
    const refused = this.#longest(demands, requestId, nowMs);
    if (refused !== undefined)
      return { admitted: false, firstTaken: takes && first.length > 0, ...refused, ...this.#states(all, nowMs) };
    if (takes) this.#take(demands, requestId, nowMs);
    const { requests, tokens } = this.#states(all, nowMs);
    return { admitted: true, admittedAtMs: nowMs, requests, tokens };
  }

  #take(demands: readonly Demand[], requestId: string, nowMs: number): void {
    if (demands.length === 0) return;
    this.#makeRoom(demands, nowMs);
    for (const demand of demands) this.#subjectOf(demand.subject).take(demand, requestId, nowMs);
  }

  correct(_accountId: string, subject: string, { admittedAtMs }: Admitted, reserved: number, used: number): void {
    this.#subjects.get(subject)?.tokens?.correct(this.#now(), admittedAtMs, used - reserved);
  }

  release(_accountId: string, subject: string, requestId: string): void {
    this.#subjects.get(subject)?.leases?.release(requestId);
  }

  heartbeat(): void {
    this.#beatMs = this.#now();
  }

  /** Nobody but this process changes anything, and `publishRevision` tells it at once. */
  revisionsOf(): Promise<Revisions | undefined> {
    return Promise.resolve(undefined);
  }

  publishRevision(_accountId: string, name: string): Promise<void> {
    for (const callback of this.#callbacks) callback(name);
    return Promise.resolve();
  }

  onRevision(callback: (name: string) => void): void {
    this.#callbacks.push(callback);
  }

  publishCoolDown(): void {
    // Nobody else is there.
  }

  onCoolDown(): void {
    // Nobody else is there.
  }

  publishOrder(): void {
    // Nobody else is there.
  }

  onOrder(): void {
    // Nobody else is there.
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    this.#subjects.clear();
    return Promise.resolve();
  }

  #now(): number {
    this.#nowMs = Math.max(this.#nowMs, this.#clock());
    return this.#nowMs;
  }

  /** Of all limits that refuse, the one that refuses longest: to wait for another would be in vain. */
  #longest(demands: readonly Demand[], requestId: string, nowMs: number): Reached | undefined {
    let longest: Reached | undefined;
    for (const demand of demands) {
      const reached = this.#reached(demand, requestId, nowMs);
      if (reached !== undefined && (longest === undefined || reached.retryAfterMs > longest.retryAfterMs))
        longest = reached;
    }
    return longest;
  }

  /** The limit of one subject that refuses longest. */
  #reached(demand: Demand, requestId: string, nowMs: number): Reached | undefined {
    const { limits, tokens } = demand;
    const subject = this.#subjects.get(demand.subject) ?? NO_SUBJECT;
    const requestsWaitMs = waitOf(subject.requests, nowMs, limits.requestsPerMinute, 1);
    const tokensWaitMs = waitOf(subject.tokens, nowMs, limits.tokensPerMinute, tokens);
    const leased = subject.leases?.count(nowMs, this.#beatMs) ?? 0;
    const slotMissing =
      limits.concurrency > 0 && leased >= limits.concurrency && subject.leases?.has(requestId) !== true;
    if (requestsWaitMs === 0 && tokensWaitMs === 0 && !slotMissing) return undefined;
    return reachedOf(demand, {
      requests: readingOf(subject.requests, nowMs, limits.requestsPerMinute, requestsWaitMs),
      tokens: readingOf(subject.tokens, nowMs, limits.tokensPerMinute, tokensWaitMs),
      leased: slotMissing ? leased : 0,
    });
  }

  #states(demands: readonly Demand[], nowMs: number): WindowStates {
    let requests: WindowState | undefined;
    let tokens: WindowState | undefined;
    for (const { subject: name, limits } of demands) {
      const subject = this.#subjects.get(name) ?? NO_SUBJECT;
      requests = tighter(requests, stateOf(subject.requests, nowMs, limits.requestsPerMinute));
      tokens = tighter(tokens, stateOf(subject.tokens, nowMs, limits.tokensPerMinute));
    }
    return { requests, tokens };
  }

  #subjectOf(name: string): Subject {
    let subject = this.#subjects.get(name);
    if (subject === undefined) {
      subject = new Subject();
      this.#subjects.set(name, subject);
    }
    return subject;
  }

  /** Makes room for the subjects that are new, for all of them or none. */
  #makeRoom(demands: readonly Demand[], nowMs: number): void {
    let missing = 0;
    for (const { subject } of demands) if (!this.#subjects.has(subject)) missing += 1;
    if (missing === 0) return;
    // An idle subject of the request itself may go too: it comes back in the room that it leaves.
    const sizeMax = this.#subjectsMax - missing;
    this.#dropIdle(nowMs, missing * IDLE_PROBES);
    if (this.#subjects.size > sizeMax && nowMs - this.#fullSweepMs >= FULL_SWEEP_MS) {
      this.#fullSweepMs = nowMs;
      this.#dropIdle(nowMs, this.#subjects.size);
    }
    // To forget a window that counts would let its key pass twice.
    if (this.#subjects.size > sizeMax)
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many keys with limits are in use" });
  }

  /** Looks at the first so many subjects: idle ones go, others move to the end. */
  #dropIdle(nowMs: number, probes: number): void {
    let left = Math.min(probes, this.#subjects.size);
    for (const [name, subject] of this.#subjects) {
      if (left === 0) return;
      left -= 1;
      this.#subjects.delete(name);
      if (!subject.isIdle(nowMs, this.#beatMs)) this.#subjects.set(name, subject);
    }
  }
}

function waitOf(window: Window | undefined, nowMs: number, limit: number, amount: number): number {
  if (limit === 0) return 0;
  if (window === undefined) return amount > limit ? BUCKET_MS : 0;
  return window.waitMs(nowMs, limit, amount);
}

function stateOf(window: Window | undefined, nowMs: number, limit: number): WindowState | undefined {
  if (limit === 0) return undefined;
  return window === undefined ? { limit, remaining: limit, resetMs: 0 } : window.state(nowMs, limit);
}

function readingOf(
  window: Window | undefined,
  nowMs: number,
  limit: number,
  waitMs: number,
): WindowReading | undefined {
  const state = stateOf(window, nowMs, limit);
  return state && { state, waitMs };
}
