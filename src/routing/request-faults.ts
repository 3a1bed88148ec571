/** Which failures of a target follow a request that it cannot serve, and which follow the target itself. */
import { createHash } from "node:crypto";
import { textOf } from "../wire/error/echo.js";
import { UpstreamRefusal } from "../wire/error/upstream-refusal.js";
import type { WireRequest } from "../wire/wire.js";
import type { AttemptFailure } from "./attempt-types.js";
import type { Evidence } from "./ejection.js";
import type { Target } from "./model.js";

/** How long ago the target must have served another request to count as one that serves. */
const SERVED_MS = 60_000;
const KEPT_MAX = 64;
/** How often a request must fail before that can be its own fault: those of a service with many servers mostly pass. */
const TIMES_MIN = { ofOwnServers: 2, ofServices: 3 };

interface Fault {
  times: number;
  /** The attempts that failed on it first and last, and when that was. */
  readonly firstToken: number;
  lastToken: number;
  lastMs: number;
}

/**
 * Remembers of one target on which requests it failed with an answer, and which attempt it served last: an error of 500
 * does not tell whether the server is broken or the request breaks it. An answer whose attempt began before a failure
 * says nothing of the time since.
 */
export class RequestFaults {
  readonly #faults = new Map<string, Fault>();
  /** The latest attempt that was served. */
  #servedToken = 0;
  #servedMs = Number.NEGATIVE_INFINITY;

  /** It served a request. */
  served({ nowMs, token }: Evidence): void {
    this.#servedToken = Math.max(this.#servedToken, token);
    this.#servedMs = nowMs;
  }

  /** It failed on a request. What was long ago says nothing of today. */
  failed(request: string, { nowMs, token }: Evidence): void {
    const before = this.#faults.get(request);
    const isLately = before !== undefined && nowMs - before.lastMs < SERVED_MS;
    const fault = isLately ? before : { times: 0, firstToken: token, lastToken: token, lastMs: nowMs };
    fault.times += 1;
    fault.lastToken = token;
    fault.lastMs = nowMs;
    // The one that failed last is forgotten last.
    this.#faults.delete(request);
    this.#faults.set(request, fault);
    for (const [oldest] of this.#faults) {
      if (this.#faults.size <= KEPT_MAX) break;
      this.#faults.delete(oldest);
    }
  }

  /** How often it failed on the request lately. */
  timesOf(request: string): number {
    return this.#faults.get(request)?.times ?? 0;
  }

  /** It served a request on which it had failed. */
  recovered(request: string): void {
    this.#faults.delete(request);
  }

  /**
   * True where it serves others than the request that it failed on: it served one lately, which began since, or it has
   * failed on nothing else since that.
   */
  servesOthersThan(request: string, nowMs: number): boolean {
    if (nowMs - this.#servedMs >= SERVED_MS) return false;
    if (this.#servedToken > (this.#faults.get(request)?.firstToken ?? Infinity)) return true;
    for (const [other, { lastToken }] of this.#faults)
      if (other !== request && lastToken > this.#servedToken) return false;
    return true;
  }

  reset(): void {
    this.#faults.clear();
    this.#servedToken = 0;
    this.#servedMs = Number.NEGATIVE_INFINITY;
  }
}

/** A status of what stands before a server, and says nothing of what the server does with a request. */
function isOfProxy(status: number): boolean {
  return status === 502 || (status >= 520 && status <= 530);
}

/** True of a failure that the request itself may have brought about. */
function mayBeOfRequest({ error, isOut }: AttemptFailure): boolean {
  const { cause } = error;
  if (isOut || !(cause instanceof UpstreamRefusal) || isOfProxy(cause.status)) return false;
  // A server that is out of memory says so in words: it may be this request that asks for too much.
  return cause.kind === "failure" || (cause.kind === "unavailable" && cause.words !== undefined);
}

/** The failures of one request that may be its own fault. What they say of their targets waits until that is known. */
export class FaultsOfRequest {
  #digest: string | undefined;
  #times = 0;
  readonly #doubts: { readonly target: Target; readonly evidence: Evidence }[] = [];

  constructor(private readonly request: WireRequest) {}

  /** The failure as it is to be told, and whether it is the request's; undefined where nothing is in doubt. */
  judge(target: Target, evidence: Evidence, failure: AttemptFailure): AttemptFailure | undefined {
    if (!mayBeOfRequest(failure)) return undefined;
    target.health.faults.failed(this.#name, evidence);
    this.#times += 1;
    this.#doubts.push({ target, evidence });
    const { cause } = failure.error;
    return this.#isItsFault(target, evidence.nowMs) && cause instanceof UpstreamRefusal
      ? { ...failure, error: cause.ofRequest() }
      : failure;
  }

  /** The target served it. Where it failed before, that was the target's own fault. */
  served(target: Target): void {
    if (!this.#doubts.some((doubt) => doubt.target === target)) return;
    target.health.faults.recovered(this.#name);
    this.#tell((doubt) => doubt === target);
  }

  /** The request is over: what is not its own fault counts against the targets, once for each. */
  end(nowMs: number): void {
    if (this.#doubts.length > 0) this.#tell((target) => !this.#isItsFault(target, nowMs));
  }

  /** True where it failed often enough, here or there, while the target serves others. */
  #isItsFault(target: Target, nowMs: number): boolean {
    const { faults } = target.health;
    const { ofOwnServers, ofServices } = TIMES_MIN;
    const timesMin = target.served.family.isSelfHosted === true ? ofOwnServers : ofServices;
    if (Math.max(faults.timesOf(this.#name), this.#times) < timesMin) return false;
    return faults.servesOthersThan(this.#name, nowMs);
  }

  #tell(isItsOwn: (target: Target) => boolean): void {
    const told = new Set<Target>();
    for (const { target, evidence } of this.#doubts.splice(0)) {
      if (told.has(target) || !isItsOwn(target)) continue;
      told.add(target);
      target.health.fail(evidence, true);
    }
  }

  /** The same for the same body, of whoever sends it. */
  get #name(): string {
    return (this.#digest ??= createHash("sha256").update(textOf(this.request)).digest("base64"));
  }
}
