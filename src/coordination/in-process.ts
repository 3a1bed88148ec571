/** What nodes share, where there is one node: it stays in the process and answers at once. */
import { GatewayError } from "../errors.js";
import type { AdmissionLimits, AdmissionRequest, AdmissionResult, Coordination, WindowState } from "./coordination.js";
import { Leases } from "./leases.js";
import { Window } from "./window.js";

export interface InProcessOptions {
  readonly nowMs: () => number;
  /** How often running requests renew their leases by themselves; 0: only `heartbeat` does. Default: 10 seconds. */
  readonly heartbeatMs?: number | undefined;
  /** The most keys with limits at once; those with nothing in their windows make room. Default: 50,000, about 60 MB. */
  readonly subjectsMax?: number | undefined;
}

export interface InProcessCoordination extends Coordination {
  /** Renews the leases of all running requests. */
  heartbeat(): void;
  /** Keys that are held in memory, for a gauge. */
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
/** When a slot comes free nobody knows; a second is a polite guess. */
const SLOT_RETRY_MS = 1_000;

/** Makes the coordination of a single node. Its clock may jump, but time here never goes back. */
export function createInProcessCoordination(options: InProcessOptions): InProcessCoordination {
  return new InProcess(options);
}

/** What is held of one key; a window exists from the first request under its limit. */
class Subject {
  requests: Window | undefined;
  tokens: Window | undefined;
  leases: Leases | undefined;

  isIdle(nowMs: number, beatMs: number): boolean {
    return (
      (this.requests?.sum(nowMs) ?? 0) === 0 &&
      (this.tokens?.sum(nowMs) ?? 0) === 0 &&
      (this.leases?.count(nowMs, beatMs) ?? 0) === 0
    );
  }
}

/** A key that has not been seen: nothing is taken, and nothing is ever put in. */
const NO_SUBJECT = Object.freeze(new Subject());

class InProcess implements InProcessCoordination {
  readonly #clock: () => number;
  readonly #subjectsMax: number;
  readonly #subjects = new Map<string, Subject>();
  readonly #callbacks: ((keyId: string, revision: number) => void)[] = [];
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

  admit(request: AdmissionRequest): AdmissionResult {
    const nowMs = this.#now();
    const { limits } = request;
    const subject = this.#subjectOf(request.subject, nowMs);
    if (limits.requestsPerMinute > 0) subject.requests ??= new Window(nowMs);
    if (limits.tokensPerMinute > 0) subject.tokens ??= new Window(nowMs);
    if (limits.concurrency > 0) subject.leases ??= new Leases();
    const refusal = this.#refusal(subject, request, nowMs);
    if (refusal !== undefined) return refusal;
    if (limits.requestsPerMinute > 0) subject.requests?.take(nowMs, 1);
    if (limits.tokensPerMinute > 0) subject.tokens?.take(nowMs, request.tokens);
    if (limits.concurrency > 0) subject.leases?.take(request.requestId, nowMs);
    return admittedAt(nowMs, subject, limits);
  }

  peek(request: AdmissionRequest): AdmissionResult {
    const nowMs = this.#now();
    const subject = this.#subjects.get(request.subject) ?? NO_SUBJECT;
    return this.#refusal(subject, request, nowMs) ?? admittedAt(nowMs, subject, request.limits);
  }

  correct(subject: string, admittedAtMs: number, reserved: number, used: number): void {
    this.#subjects.get(subject)?.tokens?.correct(this.#now(), admittedAtMs, used - reserved);
  }

  release(subject: string, requestId: string): void {
    this.#subjects.get(subject)?.leases?.release(requestId);
  }

  heartbeat(): void {
    this.#beatMs = this.#now();
  }

  publishRevision(keyId: string, revision: number): Promise<void> {
    for (const callback of this.#callbacks) callback(keyId, revision);
    return Promise.resolve();
  }

  onRevision(callback: (keyId: string, revision: number) => void): void {
    this.#callbacks.push(callback);
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
  #refusal(subject: Subject, request: AdmissionRequest, nowMs: number): AdmissionResult | undefined {
    const { limits, tokens } = request;
    const requestsWaitMs = waitOf(subject.requests, nowMs, limits.requestsPerMinute, 1);
    const tokensWaitMs = waitOf(subject.tokens, nowMs, limits.tokensPerMinute, tokens);
    const leased = subject.leases?.count(nowMs, this.#beatMs) ?? 0;
    const slotMissing =
      limits.concurrency > 0 && leased >= limits.concurrency && subject.leases?.has(request.requestId) !== true;
    const slotWaitMs = slotMissing ? SLOT_RETRY_MS : 0;
    const retryAfterMs = Math.max(requestsWaitMs, tokensWaitMs, slotWaitMs);
    if (retryAfterMs === 0) return undefined;
    const states = {
      requests: stateOf(subject.requests, nowMs, limits.requestsPerMinute),
      tokens: stateOf(subject.tokens, nowMs, limits.tokensPerMinute),
    };
    const refused = { admitted: false, retryAfterMs, ...states } as const;
    if (retryAfterMs === requestsWaitMs)
      return refusedBy(refused, "requests_per_minute", limits.requestsPerMinute, states.requests?.remaining ?? 0);
    if (retryAfterMs === tokensWaitMs)
      return refusedBy(refused, "tokens_per_minute", limits.tokensPerMinute, states.tokens?.remaining ?? 0);
    return refusedBy(refused, "concurrency", limits.concurrency, Math.max(0, limits.concurrency - leased));
  }

  #subjectOf(name: string, nowMs: number): Subject {
    const known = this.#subjects.get(name);
    if (known !== undefined) return known;
    this.#dropIdle(nowMs, IDLE_PROBES);
    if (this.#subjects.size >= this.#subjectsMax && nowMs - this.#fullSweepMs >= FULL_SWEEP_MS) {
      this.#fullSweepMs = nowMs;
      this.#dropIdle(nowMs, this.#subjects.size);
    }
    // To forget a window that counts would let its key pass twice.
    if (this.#subjects.size >= this.#subjectsMax)
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many keys with limits are in use" });
    const subject = new Subject();
    this.#subjects.set(name, subject);
    return subject;
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

function admittedAt(nowMs: number, subject: Subject, limits: AdmissionLimits): AdmissionResult {
  return {
    admitted: true,
    admittedAtMs: nowMs,
    requests: stateOf(subject.requests, nowMs, limits.requestsPerMinute),
    tokens: stateOf(subject.tokens, nowMs, limits.tokensPerMinute),
  };
}

function refusedBy(
  refused: Omit<Extract<AdmissionResult, { admitted: false }>, "limit" | "limitValue" | "remaining">,
  limit: "requests_per_minute" | "tokens_per_minute" | "concurrency",
  limitValue: number,
  remaining: number,
): AdmissionResult {
  return { ...refused, limit, limitValue, remaining };
}

function waitOf(window: Window | undefined, nowMs: number, limit: number, amount: number): number {
  return window === undefined || limit === 0 ? 0 : window.waitMs(nowMs, limit, amount);
}

function stateOf(window: Window | undefined, nowMs: number, limit: number): WindowState | undefined {
  return window === undefined || limit === 0 ? undefined : window.state(nowMs, limit);
}
