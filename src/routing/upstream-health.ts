/**
 * The circuit breakers of an upstream and of each model there: what ejects a target, for whom, and when it may be
 * tried again.
 */
import { LRUCache } from "lru-cache";
import type { UpstreamCheck } from "../api/index.js";
import { boundedTo } from "../base/bounded-to.js";
import { Ejection, type EjectionCause, type EjectionChange, type Evidence } from "./ejection.js";
import { FAILING, RATE_LIMITED, REFUSED } from "./ejection-rules.js";
import { FailureShare } from "./failure-share.js";
import { MachineTime } from "./machine-time.js";
import { Probes } from "./probes.js";
import { RequestFaults } from "./request-faults.js";
import { RetryBudget } from "./retry-budget.js";
import type { ServerState } from "./server-state.js";
import { TargetSpeed } from "./target-speed.js";
import { UpstreamHistory } from "./upstream-history.js";

/** So many models that clients named are kept of an upstream. */
const MADE_MAX = 500;
/** A client that leaves sooner was not kept waiting. */
const ABANDONED_MS_MIN = 10_000;
/** When to come again where an operator drains: nobody knows, and soon is too early. */
const DRAINED_MS = 30_000;

export type HealthState = "healthy" | "cooling" | "refused" | "drained";

/** Told of each change: of a model there, or of the whole upstream, where `model` is undefined. */
export type HealthObserver = (model: string | undefined, change: EjectionChange) => void;

/** What is ejected, as operators read it. */
export interface ActiveEjection {
  /** Empty where it is the whole upstream. */
  readonly model: string;
  readonly cause: EjectionCause;
  readonly coolingMs: number;
}

/** What concerns all models of an upstream: whether it can be reached, and takes our credential. */
export class UpstreamHealth {
  readonly failing: Ejection;
  readonly credential: Ejection;
  readonly share = new FailureShare();
  readonly probes = new Probes();
  readonly retries = new RetryBudget();
  readonly machine = new MachineTime();
  readonly #targets = new Map<string, TargetHealth>();
  /** Of models that clients named: the latest of them. */
  readonly #made = new LRUCache<string, TargetHealth>(boundedTo(MADE_MAX));
  #begun = 0;
  running = 0;
  /** True once it answered a request well. */
  hasServed = false;
  /** When a test or a check last proved it, at any node, in milliseconds of the routes' monotonic clock. */
  provenMs = Number.NEGATIVE_INFINITY;
  /** What the last test or check at this node found. */
  lastCheck: UpstreamCheck | undefined;
  /** What its server reported last at this node. */
  server: ServerState | undefined;
  /** An operator lets no new requests go there. */
  isDrained = false;

  constructor(
    private readonly observe: HealthObserver = () => undefined,
    readonly history = new UpstreamHistory(),
  ) {
    const onChange = (change: EjectionChange): void => observe(undefined, change);
    this.failing = new Ejection(FAILING, onChange);
    this.credential = new Ejection(REFUSED, onChange);
  }

  /** The health of one model there, by the upstream's own name for it. */
  of(model: string): TargetHealth {
    let target = this.#targets.get(model);
    if (target === undefined) {
      target = this.#made.get(model) ?? this.#newTarget(model);
      this.#made.delete(model);
      this.#targets.set(model, target);
    }
    return target;
  }

  /** The same of a model that a wildcard made: clients may name any, so that only the latest are kept. */
  ofMade(model: string): TargetHealth {
    const known = this.#targets.get(model) ?? this.#made.get(model);
    if (known !== undefined) return known;
    const made = this.#newTarget(model);
    this.#made.set(model, made);
    return made;
  }

  #newTarget(model: string): TargetHealth {
    return new TargetHealth(this, (change) => this.observe(model, change));
  }

  get #all(): readonly (readonly [string, TargetHealth])[] {
    return [...this.#targets, ...this.#made.entries()];
  }

  /** The token of the attempt begun last. */
  get latestToken(): number {
    return this.#begun;
  }

  begin(nowMs: number): number {
    this.running += 1;
    this.retries.earn();
    this.share.begin(nowMs);
    return ++this.#begun;
  }

  /** `refused` until our credential was taken again; `cooling` where it, or each model there that was asked for, is. */
  state(nowMs: number): HealthState {
    if (this.isDrained) return "drained";
    if (this.credential.isEjected(nowMs)) return "refused";
    return this.coolingMs(nowMs) > 0 ? "cooling" : "healthy";
  }

  /** How long it, or else the model there that is back first, stays ejected, in milliseconds. */
  coolingMs(nowMs: number): number {
    const ownMs = Math.max(this.failing.remainingMs(nowMs), this.credential.remainingMs(nowMs));
    const asked = this.#all.map(([, target]) => target).filter((target) => target.isAsked);
    if (ownMs > 0 || asked.length === 0) return ownMs;
    return Math.min(...asked.map((target) => target.ownCoolingMs(nowMs)));
  }

  /** All that is ejected there. */
  ejections(nowMs: number): readonly ActiveEjection[] {
    const own = [this.failing, this.credential].map((ejection) => ({ model: "", ejection }));
    const all = [...own, ...this.#all.flatMap(([model, target]) => target.ejections(model))];
    return all
      .filter(({ ejection }) => ejection.isEjected(nowMs))
      .map(({ model, ejection }) => ({ model, cause: ejection.cause, coolingMs: ejection.remainingMs(nowMs) }));
  }

  /** Another node ejected it because requests fail: all of it, or the model that is named. */
  suspect(model: string, nowMs: number): void {
    if (model === "") this.failing.suspect(nowMs);
    else (this.#targets.get(model) ?? this.#made.get(model))?.suspect(nowMs);
  }

  /** A test or a check, here or at another node, proved that it serves. */
  prove(nowMs: number): void {
    this.hasServed = true;
    this.provenMs = nowMs;
  }

  /** Takes it, and all its models, back into use at once. */
  reset(): void {
    this.isDrained = false;
    this.failing.reset();
    this.credential.reset();
    this.share.reset();
    this.probes.reset();
    this.retries.reset();
    for (const [, target] of this.#all) target.reset();
  }
}

/** The health of one model at one upstream, the upstream's own within. */
export class TargetHealth {
  readonly #failing: Ejection;
  readonly #rate: Ejection;
  readonly #missing: Ejection;
  readonly #share = new FailureShare();
  readonly #probes = new Probes();
  /** On which requests it failed, and whether it serves others. */
  readonly faults = new RequestFaults();
  /** True once a request went there. */
  isAsked = false;
  running = 0;
  /** Undefined until somebody asks how fast it is. */
  speed: TargetSpeed | undefined;

  constructor(
    readonly upstream: UpstreamHealth,
    onChange: (change: EjectionChange) => void,
  ) {
    this.#failing = new Ejection(FAILING, onChange);
    this.#rate = new Ejection(RATE_LIMITED, onChange);
    this.#missing = new Ejection(REFUSED, onChange);
  }

  /** How fast it is: measured from the first time that somebody asks. */
  get measured(): TargetSpeed {
    return (this.speed ??= new TargetSpeed());
  }

  /** True where this account's request may go there now. After its ejection, one probe a second may. */
  admits(nowMs: number, accountId: string): boolean {
    if (this.upstream.isDrained) return false;
    const cause = this.#concern(nowMs, accountId);
    if (cause === undefined) return true;
    return this.#remainingMs(nowMs, accountId) === 0 && this.#probeWaitMs(nowMs, accountId) === 0;
  }

  /** How long until this account's request may go there where nobody else is left to ask, in milliseconds. */
  nextTryMs(nowMs: number, accountId: string): number {
    if (this.upstream.isDrained) return DRAINED_MS;
    // What failed on others' requests may well serve this one: each account finds that out by itself, once.
    if (this.#concern(nowMs, accountId) === this.#failing && !this.#failing.wasMetBy(accountId)) return 0;
    return Math.min(this.#remainingMs(nowMs, accountId), this.#probeWaitMs(nowMs, accountId));
  }

  /** What a caller is told to wait for it: what the upstream itself named, else until it may be asked again. */
  waitMs(nowMs: number, accountId: string): number {
    const ownMs = this.nextTryMs(nowMs, accountId);
    return this.#concern(nowMs, accountId) === this.#rate
      ? Math.max(ownMs, this.#rate.namedMs(nowMs, accountId))
      : ownMs;
  }

  /** Why it is ejected for this account; undefined where it is not. */
  causeFor(nowMs: number, accountId: string): EjectionCause | undefined {
    return this.#concern(nowMs, accountId)?.cause;
  }

  /** An attempt begins. Its token is told with what it brings to light. */
  begin(nowMs: number, accountId: string): number {
    const { upstream } = this;
    if (this.#concern(nowMs, accountId) !== undefined) this.#probesFor(nowMs, accountId).take(nowMs, accountId);
    this.isAsked = true;
    this.running += 1;
    this.#share.begin(nowMs);
    return upstream.begin(nowMs);
  }

  end(): void {
    this.running -= 1;
    this.upstream.running -= 1;
  }

  /** The first of an answer that a client can see has come. */
  visible(token: number, accountId: string): void {
    const { upstream } = this;
    upstream.failing.visible(token, accountId);
    upstream.credential.visible(token, accountId);
    this.#failing.visible(token, accountId);
    this.#rate.visible(token, accountId);
    this.#missing.visible(token, accountId);
  }

  /** It answered well. */
  succeed(evidence: Evidence): void {
    const { upstream } = this;
    const { token, accountId } = evidence;
    this.faults.served(evidence);
    upstream.hasServed = true;
    this.answered(token, accountId);
    upstream.credential.succeed(token, accountId);
    this.#rate.succeed(token, accountId);
    this.#missing.succeed(token, accountId);
  }

  /** It refused a request as wrong: it is there, which says nothing of our credential or of its rate. */
  answered(token: number, accountId: string): void {
    this.upstream.failing.succeed(token, accountId);
    this.#failing.succeed(token, accountId);
  }

  /** It failed. Where no answer came that is the upstream's, else the model's. */
  fail(evidence: Evidence, hasAnswered: boolean): void {
    const { upstream } = this;
    const [ejection, share] = hasAnswered ? [this.#failing, this.#share] : [upstream.failing, upstream.share];
    const by = ejection.isStale(evidence.token) ? undefined : share.failed(evidence.accountId);
    const isEjectedNow = ejection.against("failing", evidence, upstream.latestToken, by === undefined ? {} : { by });
    if (!isEjectedNow) return;
    share.reset();
    (hasAnswered ? this.#probes : upstream.probes).reset();
  }

  /** The client gave up; it counts as a failure where it had waited long for the first output, or for the next. */
  abandoned(evidence: Evidence, waitedMs: number, hasAnswered: boolean): void {
    if (waitedMs >= ABANDONED_MS_MIN) this.fail(evidence, hasAnswered);
  }

  /** Its own limit is reached; `askedMs` is how long it asks to wait. */
  rateLimited(evidence: Evidence, askedMs: number | undefined): void {
    const isEjected = this.#rate.against("rate_limited", evidence, this.upstream.latestToken, { askedMs });
    if (isEjected) this.#probes.reset();
  }

  /** On another node its limit was reached. */
  imposeRateLimit(nowMs: number, durationMs: number, accountId: string | undefined, namedMs?: number): void {
    const { latestToken } = this.upstream;
    this.#rate.impose("rate_limited", { nowMs, latestToken }, durationMs, accountId, namedMs);
  }

  suspect(nowMs: number): void {
    this.#failing.suspect(nowMs);
  }

  /** It refused what only an operator can mend: our credential, our account, or the name of the model. */
  refuse(evidence: Evidence, cause: "credential" | "no_funds" | "access" | "model_unknown"): void {
    const { upstream } = this;
    const isOfAll = cause === "credential" || cause === "no_funds";
    const ejection = isOfAll ? upstream.credential : this.#missing;
    if (ejection.against(cause, evidence, upstream.latestToken)) (isOfAll ? upstream.probes : this.#probes).reset();
  }

  spendRetry(): boolean {
    return this.upstream.retries.spend();
  }

  state(nowMs: number): HealthState {
    if (this.upstream.isDrained) return "drained";
    if (this.upstream.credential.isEjected(nowMs)) return "refused";
    const coolingMs = Math.max(this.upstream.failing.remainingMs(nowMs), this.ownCoolingMs(nowMs));
    return coolingMs > 0 ? "cooling" : "healthy";
  }

  ownCoolingMs(nowMs: number): number {
    return Math.max(this.#failing.remainingMs(nowMs), this.#rate.remainingMs(nowMs), this.#missing.remainingMs(nowMs));
  }

  ejections(model: string): readonly { readonly model: string; readonly ejection: Ejection }[] {
    return [this.#failing, this.#rate, this.#missing].map((ejection) => ({ model, ejection }));
  }

  reset(): void {
    this.#failing.reset();
    this.#rate.reset();
    this.#missing.reset();
    this.#share.reset();
    this.#probes.reset();
    this.faults.reset();
  }

  /** What ejects it for this account; the upstream's first, as nothing of the model counts without it. */
  #concern(nowMs: number, accountId: string): Ejection | undefined {
    const { credential, failing } = this.upstream;
    if (credential.concerns(nowMs, accountId)) return credential;
    if (failing.concerns(nowMs, accountId)) return failing;
    if (this.#failing.concerns(nowMs, accountId)) return this.#failing;
    if (this.#missing.concerns(nowMs, accountId)) return this.#missing;
    return this.#rate.concerns(nowMs, accountId) ? this.#rate : undefined;
  }

  #remainingMs(nowMs: number, accountId: string): number {
    const { credential, failing } = this.upstream;
    let mostMs = 0;
    for (const ejection of [credential, failing, this.#failing, this.#missing, this.#rate])
      if (ejection.concerns(nowMs, accountId)) mostMs = Math.max(mostMs, ejection.remainingMs(nowMs, accountId));
    return mostMs;
  }

  #probeWaitMs(nowMs: number, accountId: string): number {
    return this.#probesFor(nowMs, accountId).waitMs(nowMs, accountId);
  }

  /** All models of an upstream that is ejected share its probes. */
  #probesFor(nowMs: number, accountId: string): Probes {
    const { credential, failing, probes } = this.upstream;
    const isOfAll = credential.concerns(nowMs, accountId) || failing.concerns(nowMs, accountId);
    return isOfAll ? probes : this.#probes;
  }
}
