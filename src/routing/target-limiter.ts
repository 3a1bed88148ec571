/**
 * The limits that operators set on upstreams and targets. A target that is full is skipped: nothing of it counts as a
 * failure. Rates and places are taken from the limiter of keys and accounts, which nodes share.
 */
import { randomUUID } from "node:crypto";
import type { CancelSignal } from "../base/cancellation.js";
import { whenReady } from "../base/when-ready.js";
import type { TargetLimits } from "../config/settings.js";
import type { Admitted, AdmissionResult, Coordination, Demand } from "../coordination/coordination.js";
import type { Target } from "./model.js";
import { Place, queueOf, Waiter, WaitingLine } from "./waiting-line.js";

/** The limits of an upstream, or of one target. */
export interface SubjectLimits extends TargetLimits {
  /** By this name nodes share what is taken of them. */
  readonly subject: string;
}

/** What the operator spent at an upstream or a target in the present period. */
export interface OperatorSpending {
  /** How long until there is something left of the budget, in milliseconds; 0: now. */
  waitMs(limits: SubjectLimits): number | Promise<number>;
  add(limits: SubjectLimits, costNanos: bigint): void;
}

/** A target that did not take a request, because a limit of it is reached. */
export interface Full {
  readonly target: Target;
  /** The subject of the limit. */
  readonly refusedBy: string;
  readonly limit: Extract<AdmissionResult, { admitted: false }>["limit"] | "budget";
  /** Until the request would be taken, as far as that is known. */
  readonly retryAfterMs: number;
}

/** A target, and what the request took of its limits. */
export interface Entered {
  readonly target: Target;
  /** Undefined if the target has no limits. */
  readonly taken: TakenLimits | undefined;
}

/** Whose request it is, what it takes, and how long it can wait. */
export interface Entering {
  readonly accountId: string;
  /** The most tokens that it can use. */
  readonly tokens: number;
  readonly leftMs: number;
  readonly signal: CancelSignal;
}

export interface TargetLimiterOptions {
  readonly coordination: Pick<Coordination, "admit" | "correct" | "release">;
  readonly spending: OperatorSpending;
  readonly nowMs: () => number;
}

/** The next place is free when a request ends, which nobody knows. */
const PLACE_RETRY_MS = 1_000;
const NOTHING_TAKEN: Admitted = { admitted: true, admittedAtMs: 0, requests: undefined, tokens: undefined };

/**
 * The limits that the settings set on a target: its upstream's first, then its own. Undefined if there are none.
 * `slots`: how many requests the server works at at once; 0 if it does not report that.
 */
export function limitsOf(
  upstream: string,
  ofUpstream: TargetLimits | undefined,
  target: string,
  ofTarget: TargetLimits | undefined,
  slots: () => number,
): readonly SubjectLimits[] | undefined {
  const limits: SubjectLimits[] = [];
  if (ofUpstream !== undefined) limits.push(withSlots({ subject: subjectOf(upstream), ...ofUpstream }, slots));
  if (ofTarget !== undefined) limits.push({ subject: `${subjectOf(upstream)}, ${target}`, ...ofTarget });
  return limits.length === 0 ? undefined : limits;
}

/** A queue without a number of places is for those that the server reports, as many as it reports now. */
function withSlots(limits: SubjectLimits, slots: () => number): SubjectLimits {
  if (limits.queue === undefined || limits.concurrency > 0) return limits;
  return Object.defineProperty({ ...limits }, "concurrency", { enumerable: true, get: slots });
}

/** The name of an upstream's limits. No key, account or target has one that is the same. */
export function subjectOf(upstream: string): string {
  return `upstream ${upstream}`;
}

export class TargetLimiter {
  readonly #lines = new Map<string, WaitingLine>();

  constructor(private readonly options: TargetLimiterOptions) {}

  /** Takes the limits of a target for a request, all or none. Requests that wait for the target come first. */
  enter(target: Target, { tokens }: Pick<Entering, "tokens">): TakenLimits | Full | Promise<TakenLimits | Full> {
    for (const { subject } of target.limits ?? [])
      if (this.#lines.has(subject))
        return { target, refusedBy: subject, limit: "concurrency", retryAfterMs: PLACE_RETRY_MS };
    return this.#take(target, tokens);
  }

  /**
   * Waits for a place at one of the full targets. Resolves with undefined if none comes free in time, no queue has
   * room, or the client leaves. `started` is called if the request waits.
   */
  wait(full: readonly Full[], entering: Entering, started: () => void): Promise<Entered | undefined> {
    const { accountId, tokens, leftMs, signal } = entering;
    return new Promise((resolve, reject) => {
      const waits = full.map((one) => queueOf(one)?.waitMs ?? 0);
      const waiter = new Waiter(Math.min(leftMs, Math.max(...waits)), signal, resolve, reject);
      const joined = full.filter((one) => this.#join(one, new Place(accountId, tokens, one.target, waiter)));
      if (joined.length === 0) waiter.leave();
      else started();
      // A place may have come free since the target refused the request.
      for (const { refusedBy } of joined) this.#lines.get(refusedBy)?.wake();
    });
  }

  /** How many requests wait in this process for a place at an upstream, or at one of its targets. */
  waitingAt(upstream: string): number {
    const subject = subjectOf(upstream);
    let sum = 0;
    for (const [name, { size }] of this.#lines) if (name === subject || name.startsWith(`${subject}, `)) sum += size;
    return sum;
  }

  #join(full: Full, place: Place): boolean {
    const queue = queueOf(full);
    const subject = full.refusedBy;
    if (queue === undefined) return false;
    let line = this.#lines.get(subject);
    if (line === undefined) {
      line = new WaitingLine(subject, queue.length, {
        enter: (waiting) => this.#enterWaiting(waiting),
        moved: ({ account, tokens, waiter }, other) => {
          this.#join(other, new Place(account, tokens, other.target, waiter));
        },
        emptied: () => this.#lines.delete(subject),
      });
      this.#lines.set(subject, line);
    }
    return line.join(place);
  }

  #enterWaiting({ account, target, tokens }: Place): TakenLimits | Full | Promise<TakenLimits | Full> {
    // One that was ejected meanwhile has no place for those who wait: they try the others.
    if (target.health.admits(this.options.nowMs(), account)) return this.#take(target, tokens);
    return { target, refusedBy: "", limit: "concurrency", retryAfterMs: PLACE_RETRY_MS };
  }

  #take(target: Target, tokens: number): TakenLimits | Full | Promise<TakenLimits | Full> {
    const { limits = [] } = target;
    const spent = this.#spent(target, limits);
    return whenReady(spent, (full): TakenLimits | Full | Promise<TakenLimits | Full> => {
      if (full !== undefined) return full;
      const demands = limits.filter(hasRates).map((limit) => demandOf(limit, tokens));
      const requestId = randomUUID();
      if (demands.length === 0) return this.#taken(target, demands, requestId, NOTHING_TAKEN);
      const accountId = subjectOf(target.served.id);
      const result = this.options.coordination.admit({ requestId, accountId, demands });
      return whenReady(result, (settled): TakenLimits | Full => {
        if (settled.admitted) return this.#taken(target, demands, requestId, settled);
        const { subject, limit, retryAfterMs } = settled;
        return { target, refusedBy: subject, limit, retryAfterMs };
      });
    });
  }

  /** The budget of the target that is spent for the longest time; undefined if there is none. */
  #spent(target: Target, limits: readonly SubjectLimits[]): Full | undefined | Promise<Full | undefined> {
    const budgeted = limits.filter(({ budget }) => budget !== undefined);
    if (budgeted.length === 0) return undefined;
    const waits = budgeted.map((limit) => this.options.spending.waitMs(limit));
    const longest = (waitsMs: readonly number[]): Full | undefined => {
      const retryAfterMs = Math.max(...waitsMs);
      const refusedBy = budgeted[waitsMs.indexOf(retryAfterMs)]?.subject ?? "";
      return retryAfterMs === 0 ? undefined : { target, refusedBy, limit: "budget", retryAfterMs };
    };
    const known = waits.filter((wait) => typeof wait === "number");
    return known.length === waits.length ? longest(known) : Promise.all(waits).then(longest);
  }

  #taken({ served, limits = [] }: Target, demands: readonly Demand[], id: string, admitted: Admitted): TakenLimits {
    const { coordination, spending } = this.options;
    return new TakenLimits(
      () => {
        for (const { subject, limits: its } of demands)
          if (its.concurrency > 0) coordination.release(subjectOf(served.id), subject, id);
        for (const { subject } of demands) this.#lines.get(subject)?.wake();
      },
      (tokens, costNanos) => {
        for (const { subject, limits: its, tokens: reserved } of demands)
          if (its.tokensPerMinute > 0 && reserved !== tokens)
            coordination.correct(subjectOf(served.id), subject, admitted, reserved, tokens);
        if (costNanos === 0n) return;
        for (const limit of limits) if (limit.budget !== undefined) spending.add(limit, costNanos);
      },
    );
  }
}

function hasRates({ requestsPerMinute, tokensPerMinute, concurrency }: SubjectLimits): boolean {
  return requestsPerMinute + tokensPerMinute + concurrency > 0;
}

/** A bound above the whole limit passes once the window is empty, as with the limits of keys. */
function demandOf({ subject, requestsPerMinute, tokensPerMinute, concurrency }: SubjectLimits, tokens: number): Demand {
  return {
    subject,
    limits: { requestsPerMinute, tokensPerMinute, concurrency },
    tokens: tokensPerMinute > 0 ? Math.min(Math.ceil(tokens), tokensPerMinute) : 0,
  };
}

/** What one attempt took of the limits of its target. Each part is given back once. */
export class TakenLimits {
  #isReleased = false;
  #isSettled = false;

  constructor(
    private readonly free: () => void,
    private readonly correct: (tokens: number, costNanos: bigint) => void,
  ) {}

  /** The attempt is over: its place is free. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.free();
  }

  /** Sets what the attempt used, and what the operator pays for it. Only the first call counts. */
  settle(tokens: number, costNanos: bigint | undefined): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.correct(tokens, costNanos ?? 0n);
  }

  /** Nothing was sent. */
  giveBack(): void {
    this.settle(0, 0n);
    this.release();
  }
}
