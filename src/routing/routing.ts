/** From a model's name to an answer: picks targets, tries again before the first byte, keeps their health. */
import type { CancelSignal } from "../base/cancellation.js";
import { ATTEMPTS_MAX, DEFAULT_RETRIES, type Retries } from "../base/retries.js";
import { listeningClock } from "../base/event-loop/listening-clock.js";
import { GatewayError } from "../base/errors.js";
import { formOf, endpointFor } from "../families/family.js";
import type { WireRequest } from "../wire/wire.js";
import { type Answered, answeredAs, type AnsweredSteps, UNKNOWN, toldModel } from "./answered.js";
import { runAttempt } from "./attempt.js";
import { abortReason, type AttemptFailure, type BatchReceiver, type LongReading } from "./attempt-types.js";
import { ableToCount, checkCountable, countAtUpstream, CountsRunning, withinLimits } from "./counting.js";
import { Deadline, type RequestTimeouts } from "./deadline.js";
import { ReadOn, type ReadOnObserver } from "./read-on.js";
import type { ServedModel, ServedUpstream, Target } from "./model.js";
import { ModelNames, type ModelPermission, type NamedModels } from "./model-names.js";
import { UnpricedModels } from "./unpriced-models.js";
import { type ClientAbort, nextAfter, ofOwnWords, recordOutcome, toldOf } from "./failure-policy.js";
import type { SessionAffinity, SessionOptions } from "./affinity.js";
import { balancingOf } from "./balance.js";
import { nextTarget, type Trying, verdict } from "./next-target.js";
import { pickTarget, targetsFor } from "./pick.js";
import { CacheMarking } from "./cache-marking.js";
import { Containers } from "./containers.js";
import type { PromptCaches } from "./prompt-caches.js";
import { pause } from "./pause.js";
import { TargetPermits, termsOf, UnknownMembers } from "./permits.js";
import { FaultsOfRequest } from "./request-faults.js";
import { RoomSearch } from "./room-search.js";
import type { Entering, TakenLimits, TargetLimiter } from "./target-limiter.js";
import { type Asking, mustGather, ownedFor, withModel } from "./upstream-request.js";

/** The models and upstreams of one version of the settings. */
export interface RouteTable extends NamedModels {
  readonly upstreams: ReadonlyMap<string, ServedUpstream>;
}

/** Takes what a model answers, whichever target it comes from. */
export interface AnswerReceiver extends BatchReceiver {
  /** A target is tried; called before each try, with what the try took of its limits. */
  begin(target: Target, taken?: TakenLimits): void;
  /** Shows a client that it waits. Absent: nothing does. */
  readonly waiting?: { start(): void } | undefined;
  /** Headers that go with the try that was begun last, beside the target's own; undefined for none. */
  attemptHeaders?(): Readonly<Record<string, string>> | undefined;
  /** The try that was begun last is over. */
  ended(failure: AttemptFailure | undefined): void;
}

export interface RunOptions extends Asking, SessionOptions {
  /** The wire whose bytes the caller takes; empty where it takes events. */
  readonly acceptWire: string;
  /** Whose request it is: what it brings to light of a target counts as this account's. */
  readonly accountId: string;
  readonly signal: CancelSignal;
  readonly deadline: Deadline;
  /** The most tokens that it can use, for the limits of targets. Absent: 0. */
  readonly tokens?: number | undefined;
  /** True where another model may answer if all targets fail. Absent: false. */
  readonly hasFallback?: boolean | undefined;
}

interface TryPlan {
  readonly request: WireRequest;
  readonly model: ServedModel;
  readonly target: Target;
  readonly taken: TakenLimits | undefined;
  readonly options: RunOptions;
  readonly receiver: AnswerReceiver;
  readonly long: LongReading | undefined;
  readonly faults: FaultsOfRequest;
  readonly isLast: boolean;
  readonly hasOther: boolean;
}

export interface RoutingOptions {
  /** A clock that only goes forward. */
  readonly nowMs: () => number;
  /** The time of day, for what is shown. Absent: the same clock. */
  readonly dateMs?: (() => number) | undefined;
  readonly random: () => number;
  readonly timeouts: RequestTimeouts;
  /** What a published list says of a model, where it is at hand. */
  readonly listed: AnsweredSteps["listed"];
  readonly onAttempt: (target: Target, error: GatewayError | undefined) => void;
  /** Told of each member of a request that no table knows; `isFirst` at its first sight on that upstream. */
  readonly onUnknownMember: (upstream: string, name: string, isFirst: boolean) => void;
  readonly onReadOn: ReadOnObserver;
  /** Called for each request for a model that a wildcard has no price or limits for. */
  readonly onUnpriced?: (wildcard: string) => void;
  /** What keeps accounts apart in what upstreams cache. */
  readonly promptCaches: PromptCaches;
  readonly affinity: SessionAffinity;
  readonly limiter: TargetLimiter;
}

/** An upstream may tell any name; so many are remembered of a target. */
const ANSWERED_MAX = 100;
/** As long as the settings let a name be. A longer one is no model's that is served, and is not kept. */
const NAME_CHARACTERS_MAX = 256;
/** What fails while this process stood for so long says nothing of its target. */
const STALL_MS = 5_000;
/** Any target will do. */
const FIRST = (): number => 0;
const NO_TARGETS: readonly Target[] = [];
const NOTHING_ENTERED = { target: undefined, taken: undefined };
const hasLimits = ({ limits }: Target): boolean => limits !== undefined;
const UPSTREAM_WAIT_MS_MAX = 5_000;

export class Routing {
  #table: RouteTable = { models: new Map(), upstreams: new Map() };
  #names = new ModelNames(this.#table, () => undefined);
  /** What clients asked wildcards for in vain. */
  readonly unpriced: UnpricedModels;
  /** Other models that answers named, by target and name: an alias names the same one every time. */
  #answered = new WeakMap<Target, Map<string, Answered | undefined>>();
  readonly #unknown: UnknownMembers;
  readonly #readOn: ReadOn;
  readonly #counts = new CountsRunning();
  /** What upstreams made for accounts. */
  readonly containers = new Containers();
  readonly cacheMarking = new CacheMarking();

  constructor(private readonly options: RoutingOptions) {
    this.unpriced = new UnpricedModels(options.dateMs ?? options.nowMs);
    this.#unknown = new UnknownMembers(options.onUnknownMember);
    this.#readOn = new ReadOn(options.onReadOn);
  }

  get table(): RouteTable {
    return this.#table;
  }

  get limiter(): TargetLimiter {
    return this.options.limiter;
  }

  /** The time by which targets are ejected; it has nothing to do with the time of day. */
  nowMs(): number {
    return this.options.nowMs();
  }

  /** Puts new settings in force; requests that run keep their targets. */
  replace(table: RouteTable): void {
    this.#table = table;
    this.#names = new ModelNames(table, (name, wildcard) => {
      this.unpriced.note(name, wildcard);
      this.options.onUnpriced?.(wildcard);
    });
    this.#answered = new WeakMap();
  }

  /** The other model that an answer names; undefined where it is the one that was asked. */
  answeredAs(told: string, model: ServedModel, target: Target): Answered | undefined {
    if (told === target.model || model.isCeilingPriced === true) return undefined;
    if (told.length > NAME_CHARACTERS_MAX) return UNKNOWN;
    let known = this.#answered.get(target);
    if (known === undefined) this.#answered.set(target, (known = new Map()));
    const found = known.get(told);
    if (found !== undefined || known.has(told)) return found;
    const answered = answeredAs(told, model, target, { models: this.#table.models, listed: this.options.listed });
    if (known.size >= ANSWERED_MAX) known.clear();
    known.set(told, answered);
    return answered;
  }

  /** The model that a caller names. Throws MODEL_UNKNOWN, then MODEL_NOT_ALLOWED. */
  find(id: string, caller: ModelPermission): ServedModel {
    return this.#names.find(id, caller);
  }

  /** The models and aliases that a caller may use. */
  list(caller: ModelPermission): readonly ServedModel[] {
    return this.#names.list(caller);
  }

  /** The deadline of a request that began at `startMs`; `callerEndMs` is Infinity where its caller set none. */
  deadline({ totalMs }: Pick<ServedModel, "totalMs">, startMs: number, callerEndMs: number): Deadline {
    const { timeouts } = this.options;
    return new Deadline(startMs, callerEndMs, {
      totalMs: totalMs ?? timeouts.totalMs,
      readOnMs: timeouts.readOnMs,
    });
  }

  /**
   * Pushes one answer of the model into the receiver. Rejects with a GatewayError that names the model. Without `long`
   * all answers are read on the event loop.
   */
  async run(
    request: WireRequest,
    model: ServedModel,
    options: RunOptions,
    receiver: AnswerReceiver,
    long?: LongReading,
  ): Promise<void> {
    const { accountId } = options;
    const tried: Target[] = [];
    const targets = this.containers.holders(targetsFor(model, options.kind), request, accountId);
    const session = this.options.affinity.begin(request, model, options);
    const balancing = balancingOf(model, request, options.stream, this.options.random);
    const trying: Trying = { targets, tried, accountId, session, balancing };
    const faults = new FaultsOfRequest(request);
    let last: GatewayError | undefined;
    let told: GatewayError | undefined;
    const pick = (skipped: readonly Target[]): Target | undefined =>
      nextTarget(trying, skipped, last, this.options.nowMs(), this.options.random);
    const search = this.#search(trying, pick, options, receiver);
    for (let attempt = 1; attempt <= ATTEMPTS_MAX && !isOver(options); attempt += 1) {
      const entered = search === undefined ? undefined : await search.next();
      let target = search === undefined ? pick(NO_TARGETS) : entered?.target;
      if (target === undefined) break;
      let taken = entered?.taken;
      const mayTry = this.#mayTry(target, tried, last, attempt, options);
      if (mayTry !== true) {
        // Others use the place while the request pauses.
        taken?.giveBack();
        if (!(await mayTry)) break;
        if (search !== undefined) ({ target, taken } = (await search.next()) ?? NOTHING_ENTERED);
        if (target === undefined) break;
      }
      tried.push(target);
      session?.tries(target, this.options.nowMs());
      const hasOther =
        options.hasFallback === true ||
        pickTarget(targets, tried, this.options.nowMs(), accountId, FIRST) !== undefined;
      const isLast = targets.every((other) => tried.includes(other));
      const plan = { request, model, target, taken, options, receiver, long, faults, isLast, hasOther };
      const trial = this.#try(plan);
      const failure = await (taken === undefined ? trial : trial.finally(() => taken.release()));
      receiver.ended(failure);
      if (failure === undefined) {
        session?.served(target, tried, this.options.nowMs());
        return faults.end(this.options.nowMs());
      }
      last = failure.error;
      told = toldOf(told, last);
      const { shouldFailover, once } = nextAfter(last);
      if (failure.isOut || !shouldFailover || (once && tried.some((other) => other !== target))) break;
    }
    faults.end(this.options.nowMs());
    // Who asked is gone, or its time was over before anybody could be asked.
    if (options.signal.aborted) told = abortReason(options.signal);
    else if (isOver(options)) told ??= new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase: "deadline" });
    throw withModel(verdict(told, search?.refusal, trying, this.options.nowMs()), model.id);
  }

  /** Undefined where no target has limits: then nothing is searched for. */
  #search(
    { targets }: Trying,
    pick: (skipped: readonly Target[]) => Target | undefined,
    { accountId, tokens = 0, deadline, signal }: RunOptions,
    receiver: AnswerReceiver,
  ): RoomSearch | undefined {
    if (!targets.some(hasLimits)) return undefined;
    const entering = (): Entering => ({ accountId, tokens, leftMs: deadline.leftMs(performance.now()), signal });
    return new RoomSearch(this.options.limiter, pick, entering, () => receiver.waiting?.start());
  }

  /**
   * How many tokens the request's input has, as a target's own upstream counts; undefined where none can be asked, or
   * the target is full.
   * Rejects where the request is refused.
   */
  async count(
    request: WireRequest,
    model: ServedModel,
    accountId: string,
    signal: CancelSignal,
  ): Promise<number | undefined> {
    const nowMs = this.options.nowMs();
    const target = pickTarget(ableToCount(model), [], nowMs, accountId, this.options.random);
    checkCountable(request, model);
    if (target === undefined || !this.#counts.enter(accountId)) return undefined;
    try {
      const permits = this.#permits(request, target, model, accountId);
      return await withinLimits(this.options.limiter, target, () => countAtUpstream(request, target, permits, signal));
    } catch (error) {
      throw withModel(GatewayError.from(error), model.id);
    } finally {
      this.#counts.leave(accountId);
    }
  }

  #permits(request: WireRequest, target: Target, model: ServedModel, accountId: string): TargetPermits {
    const terms = termsOf(target, model, this.containers.heldAt(target, request, accountId));
    return new TargetPermits(terms, (name) => this.#unknown.see(accountId, target.served.id, name));
  }

  async #try(plan: TryPlan): Promise<AttemptFailure | undefined> {
    const { request, model, target, options, receiver, long, faults, isLast, hasOther } = plan;
    receiver.begin(target, plan.taken);
    const { health } = target;
    const { accountId, signal } = options;
    const permits = this.#permits(request, target, model, accountId);
    const endpoint = endpointFor(target.served.family, request, options.kind);
    const gathers = mustGather(target, options);
    const ownHeaders = receiver.attemptHeaders?.();
    const cache = this.options.promptCaches.of(target, endpoint, options.kind, accountId);
    const owned = ownedFor(target, options, cache);
    const startMs = this.options.nowMs();
    const { stalledMs } = listeningClock;
    const token = health.begin(startMs, accountId);
    let firstOutputMs: number | undefined;
    const {
      failure: told,
      containerId,
      usage,
    } = await runAttempt(
      {
        request,
        kind: options.kind,
        target,
        endpoint,
        ownHeaders,
        owned,
        permits,
        acceptWire: options.acceptWire,
        accountId,
        long,
        toldModel: endpoint.wire.namesNoModel === true ? undefined : toldModel(model, target),
        form: gathers ? "events" : formOf(endpoint, options.acceptWire),
        gathers,
        isLast,
        hasOther,
        strict: options.strict,
        timeouts: target.timeouts ?? this.options.timeouts,
        deadline: options.deadline,
        signal,
        onOutput: () => {
          firstOutputMs = this.options.nowMs();
          health.visible(token, accountId);
        },
        mayReadOn: () => this.#readOn.begin(target, owned.stream),
        readOnEnded: () => this.#readOn.end(target),
      },
      receiver,
    );
    if (containerId !== "") this.containers.note(target, accountId, containerId);
    health.end();
    const nowMs = this.options.nowMs();
    const evidence = { nowMs, token, accountId, coolDownMaxMs: target.retries?.coolDownMaxMs };
    const said = told && ofOwnWords(told, request);
    const judged = said && faults.judge(target, evidence, said);
    const failure = judged ?? said;
    if (failure === undefined) faults.served(target);
    const hasLeft = failure !== undefined && isOfClient(failure.error, signal);
    const lostMs = listeningClock.stalledMs - stalledMs;
    const left: ClientAbort | undefined = hasLeft
      ? { waitedMs: failure.hasOutput ? failure.silentMs : nowMs - startMs - lostMs }
      : undefined;
    // An upstream that nobody read for so long may fail for that.
    const isOurs = failure !== undefined && lostMs >= STALL_MS;
    if (!isOurs)
      health.speed?.note({ request, options, startMs, firstOutputMs, endMs: nowMs, usage, error: told?.error });
    if (judged === undefined && !isOurs) recordOutcome(health, evidence, failure, left);
    this.options.onAttempt(target, failure?.error);
    return failure;
  }

  /** Only a second try of one target adds to its load: it is paid from a budget, and waits. Going on does neither. */
  #mayTry(
    target: Target,
    tried: readonly Target[],
    last: GatewayError | undefined,
    attempt: number,
    options: RunOptions,
  ): boolean | Promise<boolean> {
    const { retries = DEFAULT_RETRIES } = target;
    if (attempt > retries.attempts) return false;
    if (last === undefined || !tried.includes(target)) return true;
    return target.health.spendRetry() && this.#backOff(last, attempt, retries, options);
  }

  /** Waits before another try; false where no time is left for one. */
  async #backOff(
    error: GatewayError,
    attempt: number,
    { backoffMs, backoffMaxMs }: Retries,
    options: RunOptions,
  ): Promise<boolean> {
    const asked = error.reason === "ERROR_REASON_UPSTREAM_RATE_LIMITED" ? undefined : error.retryAfterMs;
    const jittered = this.options.random() * Math.min(backoffMs * 2 ** (attempt - 2), backoffMaxMs);
    const pauseMs = asked === undefined ? jittered : Math.min(asked, UPSTREAM_WAIT_MS_MAX);
    if (pauseMs >= options.deadline.leftMs(performance.now())) return false;
    await pause(pauseMs, options.signal);
    return !isOver(options);
  }
}

/** True where nobody waits for an answer any more, or no time is left for one. */
function isOver({ signal, deadline }: RunOptions): boolean {
  return signal.aborted || deadline.leftMs(performance.now()) === 0;
}

/** True where the client ended the attempt, by leaving or by its deadline. */
function isOfClient(error: GatewayError, signal: CancelSignal): boolean {
  return error.reason === "ERROR_REASON_CANCELLED" || (signal.aborted && error === signal.reason);
}
