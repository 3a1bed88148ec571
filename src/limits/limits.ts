/**
 * The limits of a request: requests and tokens in any 60 seconds, and concurrent requests. They apply to its key, to
 * the keys that created that key, to its account, and to the account with the model.
 */
import assert from "node:assert/strict";
import type { CallMetadata } from "../api/channel.js";
import {
  type AdmissionLimits,
  type AdmissionResult,
  type Admitted,
  type Coordination,
  type Demand,
  NO_REVISIONS,
  type Revisions,
  tighter,
  type WindowState,
} from "../coordination/coordination.js";
import { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { type LimitDecision, ComparedAdmission, DEGRADED_HEADER, NOTHING, UNLIMITED } from "./limit-decision.js";
import { formatDuration } from "./duration.js";

/** As in the settings; 0 means no limit. */
interface Limit {
  readonly requestsPerMinute: bigint;
  readonly tokensPerMinute: bigint;
  readonly concurrency: bigint;
}

/** The limits of all keys of an account together, and those for the models that a glob matches. */
export interface AccountLimits extends Limit {
  readonly models: readonly (Limit & { readonly model: string; matches(model: string): boolean })[];
}

/**
 * What the limits need to know of a caller. There is one object for each version of a caller, so that its limits are
 * computed once.
 */
export interface LimitedCaller {
  readonly keyId: string;
  readonly accountId: string;
  readonly settings: Limit;
  /** The key that created this one. Its windows count the usage of all keys that it created. */
  readonly maker: LimitedCaller | undefined;
  /** Undefined if the account has no limits. */
  readonly accountLimits: AccountLimits | undefined;
  /** The revisions under which the caller was cached, if nodes share limits; undefined if unknown. */
  readonly revisions?: Revisions | undefined;
}

type Refusal = Extract<AdmissionResult, { admitted: false }>;
type WindowStates = Pick<AdmissionResult, "requests" | "tokens">;
type Way = "admit" | "peek";

interface Subject {
  /** The owner of the limit as a refusal names it. Windows and slots are stored under this name. */
  readonly name: string;
  readonly limits: AdmissionLimits;
}

/** All limits of a caller: those that need nothing of the request, the token limits, and those that need the model. */
interface CallerLimits {
  readonly entry: readonly Demand[];
  readonly tokens: readonly Subject[];
  readonly models: readonly { readonly limit: AccountLimits["models"][number]; readonly subject: Subject }[];
}

const NOTHING_ENTERED: Admitted = { admitted: true, admittedAtMs: 0, requests: undefined, tokens: undefined };
const NO_LIMITS: CallerLimits = { entry: [], tokens: [], models: [] };

interface Fact {
  readonly window: "requests" | "tokens";
  /** The name in a refusal's metadata, and in a header. */
  readonly name: string;
  readonly header: string;
  readonly of: (window: WindowState) => string;
}

const FACTS: readonly Fact[] = (["requests", "tokens"] as const).flatMap((window) => {
  const fact = (name: string, of: Fact["of"]): Fact => ({
    window,
    name: `${name}_${window}`,
    header: `x-ratelimit-${name}-${window}`,
    of,
  });
  return [
    fact("limit", ({ limit }) => String(limit)),
    fact("remaining", ({ remaining }) => String(remaining)),
    fact("reset", ({ resetMs }) => formatDuration(resetMs)),
  ];
});

/** Takes requests into the limits of their callers. It stores only each caller's limits as numbers. */
export class Limits {
  readonly #coordination: Coordination;
  /** By caller object. A changed key has a new object, so that its limits are computed again. */
  readonly #limits = new WeakMap<LimitedCaller, CallerLimits>();

  constructor(options: { readonly coordination: Coordination }) {
    this.#coordination = options.coordination;
  }

  /**
   * Takes one request and its concurrency slots, all or none, before the request is read. Throws or rejects with
   * RATE_LIMITED. If nodes share limits, the request is taken later, together with its tokens, in one round trip.
   */
  admit(caller: LimitedCaller, requestId: string): LimitDecision | Promise<LimitDecision> {
    return this.#enter(caller, requestId, "admit");
  }

  /**
   * Starts to check a caller without limits against the state that nodes share, before its request is complete. Returns
   * the admission of that request, or undefined if the caller has limits or nothing is shared. Does not throw or
   * reject.
   */
  compare(caller: LimitedCaller): LimitDecision | undefined {
    if (!this.#coordination.isShared || this.#limitsOf(caller) !== NO_LIMITS) return undefined;
    return this.#compared(caller, "");
  }

  /** Throws or rejects exactly if `admit` would, and so does `reserve` of the result. Takes nothing. */
  peek(caller: LimitedCaller, requestId: string): LimitDecision | Promise<LimitDecision> {
    return this.#enter(caller, requestId, "peek");
  }

  /** Throws or rejects if `admit` would, and takes nothing. */
  check(caller: LimitedCaller): Promise<void> | undefined {
    const { entry: demands } = this.#limitsOf(caller);
    if (demands.length === 0) return undefined;
    const result = this.#coordination.peek({ requestId: "", accountId: caller.accountId, demands });
    return whenReady(result, requireAdmitted);
  }

  /** How many requests and tokens count against a key's own limits now; zero if it has none. */
  async usedOf(key: Omit<LimitedCaller, "maker" | "accountLimits">): Promise<{ requests: number; tokens: number }> {
    const { name: subject, limits } = subjectOf(`key ${key.keyId}`, key.settings);
    if (limits.requestsPerMinute + limits.tokensPerMinute === 0) return { requests: 0, tokens: 0 };
    const demands = [{ subject, limits: { ...limits, concurrency: 0 }, tokens: 0 }];
    const { requests, tokens } = await this.#coordination.peek({ requestId: "", accountId: key.accountId, demands });
    const used = (window: WindowState | undefined): number =>
      window === undefined ? 0 : window.limit - window.remaining;
    return { requests: used(requests), tokens: used(tokens) };
  }

  #enter(caller: LimitedCaller, requestId: string, way: Way): LimitDecision | Promise<LimitDecision> {
    const coordination = this.#coordination;
    const limits = this.#limitsOf(caller);
    const { isShared } = coordination;
    if (limits === NO_LIMITS && !isShared) return UNLIMITED;
    if (limits === NO_LIMITS && way === "admit") return this.#compared(caller, requestId);
    const admission = new LimitedAdmission(coordination, way, requestId, caller, limits);
    if (isShared) return admission;
    const entering = admission.enter();
    return entering === undefined ? admission : entering.then(() => admission);
  }

  /** Takes nothing, so no other call refers to it by its request id. */
  #compared({ accountId, revisions = NO_REVISIONS }: LimitedCaller, requestId: string): LimitDecision {
    const asked = { requestId, accountId, revisions, first: NOTHING, demands: NOTHING };
    return new ComparedAdmission(this.#coordination.admit(asked));
  }

  #limitsOf(caller: LimitedCaller): CallerLimits {
    const known = this.#limits.get(caller);
    if (known !== undefined) return known;
    const limits = limitsOf(caller);
    this.#limits.set(caller, limits);
    return limits;
  }
}

/** The limits of a caller, its key's first; `NO_LIMITS` if there are none. */
function limitsOf(caller: LimitedCaller): CallerLimits {
  const subjects: Subject[] = [];
  for (let key: LimitedCaller | undefined = caller; key !== undefined; key = key.maker)
    subjects.push(subjectOf(`key ${key.keyId}`, key.settings));
  const { accountId, accountLimits: account } = caller;
  if (account !== undefined) subjects.push(subjectOf(`account ${accountId}`, account));
  const models = (account?.models ?? []).map((limit) => ({
    limit,
    subject: subjectOf(`account ${accountId}, model ${limit.model}`, limit),
  }));
  const entry = subjects.flatMap(({ name, limits }): Demand[] => {
    if (limits.requestsPerMinute === 0 && limits.concurrency === 0) return [];
    return [{ subject: name, limits: { ...limits, tokensPerMinute: 0 }, tokens: 0 }];
  });
  const tokens = subjects
    .filter(({ limits }) => limits.tokensPerMinute > 0)
    .map(({ name, limits }) => ({ name, limits: { ...limits, requestsPerMinute: 0, concurrency: 0 } }));
  return entry.length + tokens.length + models.length === 0 ? NO_LIMITS : { entry, tokens, models };
}

function subjectOf(name: string, settings: Limit): Subject {
  const { requestsPerMinute, tokensPerMinute, concurrency } = settings;
  const limits = {
    requestsPerMinute: Number(requestsPerMinute),
    tokensPerMinute: Number(tokensPerMinute),
    concurrency: Number(concurrency),
  };
  return { name, limits };
}

class LimitedAdmission implements LimitDecision {
  /** What the windows hold for this request since its tokens were reserved. */
  #reserved: { readonly result: Admitted; readonly demands: readonly Demand[] } | undefined;
  /** How many tokens were used in all, once `correct` was called. */
  #used: number | undefined;
  #released = false;
  #head: CallMetadata | undefined;
  readonly #coordination: Coordination;
  readonly #way: Way;
  readonly #requestId: string;
  readonly #caller: LimitedCaller;
  readonly #limits: CallerLimits;
  /** True once the limits of requests and concurrency were taken. */
  #isAsked = false;
  /** The state of the windows when the request was taken into them. */
  #entered: AdmissionResult | undefined;

  constructor(coordination: Coordination, way: Way, requestId: string, caller: LimitedCaller, limits: CallerLimits) {
    this.#coordination = coordination;
    this.#way = way;
    this.#requestId = requestId;
    this.#caller = caller;
    this.#limits = limits;
  }

  get head(): CallMetadata {
    this.#head ??= this.#headNow();
    return this.#head;
  }

  #headNow(): CallMetadata {
    const result = this.#reserved?.result;
    const facts = factsOf(this.#states(result), "header");
    return (result ?? this.#entered)?.degraded === true ? { ...facts, [DEGRADED_HEADER]: "limits" } : facts;
  }

  enter(): Promise<void> | undefined {
    if (this.#isAsked) return undefined;
    this.#isAsked = true;
    const { entry } = this.#limits;
    if (entry.length === 0 && !this.#coordination.isShared) {
      this.#entered = NOTHING_ENTERED;
      return undefined;
    }
    const result = this.#ask(NOTHING);
    return whenReady(result, (settled) => this.#settleEntry(settled));
  }

  #settleEntry(result: AdmissionResult): undefined {
    if (!result.admitted) throw refusalOf(result);
    this.#entered = result;
  }

  reserve(tokens: number, model: string): Promise<void> | undefined {
    assert(tokens >= 0, "a bound of tokens is a number from 0");
    this.#isAsked = true;
    this.#giveBack();
    const demands = this.#demands(Math.ceil(tokens), model);
    if (demands.length === 0 && this.#entered !== undefined) return undefined;
    const result = this.#ask(demands);
    return whenReady(result, (settled) => this.#reserve(settled, demands));
  }

  /** Gives back what was reserved for another model. */
  #giveBack(): void {
    if (this.#reserved === undefined) return;
    this.correct(0);
    if (this.#way === "admit") for (const demand of this.#reserved.demands) this.#release(demand);
    this.#reserved = undefined;
    this.#used = undefined;
  }

  /** Takes the demands, together with the limits of requests and concurrency if those were not taken yet. */
  #ask(demands: readonly Demand[]): AdmissionResult | Promise<AdmissionResult> {
    const { accountId, revisions } = this.#caller;
    const isFirst = this.#entered === undefined;
    const compares = isFirst && this.#coordination.isShared && this.#way === "admit";
    // Said name by name, here and where it is answered: an object that begins with a spread costs several times that.
    const request = {
      requestId: this.#requestId,
      accountId,
      revisions: compares ? (revisions ?? NO_REVISIONS) : undefined,
      first: isFirst ? this.#limits.entry : undefined,
      demands,
    };
    return this.#way === "admit" ? this.#coordination.admit(request) : this.#coordination.peek(request);
  }

  #demands(tokens: number, model: string): readonly Demand[] {
    if (this.#limits === NO_LIMITS) return NOTHING;
    const demands = this.#limits.tokens.map((subject) => demandOf(subject, tokens));
    for (const { limit, subject } of this.#limits.models)
      if (limit.matches(model)) demands.push(demandOf(subject, tokens));
    return demands;
  }

  #reserve(result: AdmissionResult, demands: readonly Demand[]): undefined {
    if (!result.admitted) {
      const refusal = { ...result, ...this.#states(result) };
      if (result.firstTaken) this.#entered = result;
      throw refusalOf(refusal);
    }
    this.#entered ??= result;
    this.#reserved = { result, demands };
    this.#head = undefined;
  }

  /** The tightest windows of those of the entry and of the tokens. */
  #states(reserved: WindowStates | undefined): WindowStates {
    const requests = tighter(this.#entered?.requests, reserved?.requests);
    return { requests, tokens: reserved?.tokens };
  }

  correct(usedTokens: number): void {
    assert(usedTokens >= 0 && Number.isFinite(usedTokens), "used tokens are a number from 0");
    if (this.#reserved === undefined || this.#way === "peek") return;
    const used = Math.ceil(usedTokens);
    const { result, demands } = this.#reserved;
    for (const { subject, limits, tokens } of demands) {
      const counted = this.#used ?? tokens;
      if (limits.tokensPerMinute > 0 && used !== counted)
        this.#coordination.correct(this.#caller.accountId, subject, result, counted, used);
    }
    this.#used = used;
  }

  release(): void {
    if (this.#released || this.#entered === undefined || this.#way === "peek") return;
    this.#released = true;
    for (const demand of this.#limits.entry) this.#release(demand);
    for (const demand of this.#reserved?.demands ?? NOTHING) this.#release(demand);
  }

  #release({ subject, limits }: Demand): void {
    if (limits.concurrency > 0) this.#coordination.release(this.#caller.accountId, subject, this.#requestId);
  }
}

function demandOf({ name, limits }: Subject, tokens: number): Demand {
  return { subject: name, limits, tokens: limits.tokensPerMinute > 0 ? Math.min(tokens, limits.tokensPerMinute) : 0 };
}

function requireAdmitted(result: AdmissionResult): undefined {
  if (!result.admitted) throw refusalOf(result);
}

function refusalOf(refusal: Refusal): GatewayError {
  return new GatewayError("ERROR_REASON_RATE_LIMITED", {
    limit: refusal.limit,
    limit_value: String(refusal.limitValue),
    remaining: String(refusal.remaining),
    reset_ms: String(Math.ceil(refusal.retryAfterMs)),
    owner: refusal.subject,
    ...(refusal.degraded === true ? { degraded: "limits" } : {}),
    ...factsOf(refusal),
  });
}

/** The state of the limited windows, as metadata such as `remaining_tokens` or as headers. */
function factsOf(result: WindowStates, key: "name" | "header" = "name"): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const fact of FACTS) {
    const window = result[fact.window];
    if (window !== undefined) facts[fact[key]] = fact.of(window);
  }
  return facts;
}
