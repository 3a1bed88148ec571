/** From a model's name to an answer: picks targets, tries again before the first byte, keeps their health. */
import type { CancelSignal } from "../api/cancellation.js";
import { GatewayError } from "../errors.js";
import { speechFor } from "../families/family.js";
import type { Batch, WireRequest } from "../wire/wire.js";
import type { AnswerReport } from "../wire/wire.js";
import { ANSWERED, runAttempt, type AttemptFailure, type AttemptTimeouts, type BatchReceiver } from "./attempt.js";
import { countAtUpstream } from "./counting.js";
import { Gathering } from "./gathering.js";
import type { ServedModel, ServedUpstream, Target } from "./model.js";
import { pickTarget } from "./pick.js";
import { type Asking, mustGather, ownedFor, targetsFor, withModel } from "./question.js";

/** The models and upstreams of one version of the settings. */
export interface RouteTable {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly upstreams: ReadonlyMap<string, ServedUpstream>;
}

/** Takes what a model answers, whichever target it comes from. */
export interface AnswerReceiver extends BatchReceiver {
  /** A target is tried; called before each try, `attempts` counts from 1. */
  begin(target: Target, attempts: number): void;
  /** The try that was begun last is over. */
  ended(failure: AttemptFailure | undefined): void;
}

export interface RunOptions extends Asking {
  /** The wire whose bytes the caller takes; empty where it takes events. */
  readonly acceptWire: string;
  readonly signal: CancelSignal;
}

export interface RoutingOptions {
  readonly nowMs: () => number;
  readonly random: () => number;
  readonly timeouts: AttemptTimeouts;
  readonly onAttempt: (target: Target, error: GatewayError | undefined) => void;
  /** Called where a client left an answer that must be read on, and when that ends; with how many are read on now. */
  readonly onDrain: (target: Target, step: "begun" | "refused" | "ended", running: number) => void;
}

const RETRIES_MAX = 2;
const DRAINS_MAX = 64;
const BACKOFF_MS = 100;
const BACKOFF_MS_MAX = 2_000;
const UPSTREAM_WAIT_MS_MAX = 5_000;

/** Reasons after which another try, or another target, can succeed. */
const WORTH_RETRYING: ReadonlySet<string> = new Set([
  "ERROR_REASON_UPSTREAM_FAILED",
  "ERROR_REASON_UPSTREAM_UNAVAILABLE",
  "ERROR_REASON_UPSTREAM_TIMEOUT",
  "ERROR_REASON_UPSTREAM_RATE_LIMITED",
]);

export class Routing {
  #table: RouteTable = { models: new Map(), upstreams: new Map() };
  #drains = 0;

  constructor(private readonly options: RoutingOptions) {}

  get table(): RouteTable {
    return this.#table;
  }

  /** Puts new settings in force; requests that run keep their targets. */
  replace(table: RouteTable): void {
    this.#table = table;
  }

  /** The model of this name. Throws MODEL_UNKNOWN. */
  find(id: string): ServedModel {
    const model = this.#table.models.get(id);
    if (model === undefined) throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: id });
    return model;
  }

  /** Pushes one answer of the model into the receiver. Rejects with a GatewayError that names the model. */
  async run(request: WireRequest, model: ServedModel, options: RunOptions, receiver: AnswerReceiver): Promise<void> {
    const tried: Target[] = [];
    const gate = new FirstBatchGate(receiver);
    const targets = targetsFor(model, options.kind);
    let last: GatewayError | undefined;
    for (let attempt = 1; attempt <= RETRIES_MAX + 1; attempt += 1) {
      const nowMs = this.options.nowMs();
      const target = pickTarget(targets, tried, nowMs, this.options.random) ?? again(last, tried, nowMs);
      if (target === undefined) break;
      if (last !== undefined && tried.includes(target)) {
        // Only a second try of one target adds to its load: it is paid from a budget, and waits. Going on does neither.
        if (!target.served.health.spendRetry()) break;
        await this.#backOff(last, attempt, options.signal);
      }
      tried.push(target);
      receiver.begin(target, attempt);
      const failure = await this.#try(request, target, options, gate);
      receiver.ended(failure);
      if (failure === undefined) return;
      last = failure.error;
      if (gate.open || !WORTH_RETRYING.has(last.reason)) break;
    }
    throw withModel(last ?? nobody(model, this.options.nowMs()), model.id);
  }

  /**
   * How many tokens the request's input has, as a target's own upstream counts; undefined where none can be asked.
   * Rejects where the request is refused.
   */
  async count(request: WireRequest, model: ServedModel, signal: CancelSignal): Promise<number | undefined> {
    const nowMs = this.options.nowMs();
    const able = model.targets.filter(({ served }) => served.family.counter !== undefined);
    const target = pickTarget(able, [], nowMs, this.options.random);
    if (target === undefined) return undefined;
    try {
      return await countAtUpstream(request, target, signal);
    } catch (error) {
      throw withModel(GatewayError.from(error), model.id);
    }
  }

  async #try(
    request: WireRequest,
    target: Target,
    options: RunOptions,
    gate: FirstBatchGate,
  ): Promise<AttemptFailure | undefined> {
    const { health, family } = target.served;
    const speech = speechFor(family, request, options.kind);
    const gathering = mustGather(target, options) ? new Gathering(gate) : undefined;
    health.begin(this.options.nowMs());
    let failure: AttemptFailure | undefined;
    try {
      failure = await runAttempt(
        {
          request,
          target,
          speech,
          owned: ownedFor(target, options),
          form: options.acceptWire === speech.wire.name && gathering === undefined ? "source" : "events",
          strict: options.strict,
          timeouts: this.options.timeouts,
          signal: options.signal,
          mayDrain: () => this.#takeDrain(target),
          drained: () => this.#endDrain(target),
        },
        gathering ?? gate,
      );
      if (failure === undefined) gathering?.end();
    } catch (error) {
      // Only an answer that came whole is gathered.
      failure = { error: GatewayError.from(error), status: ANSWERED };
    }
    health.end();
    this.#learn(target, failure?.error);
    this.options.onAttempt(target, failure?.error);
    return failure;
  }

  /** What an answer says of the upstream's health. A request that was wrong says that it is well. */
  #learn(target: Target, failure: GatewayError | undefined): void {
    const { health } = target.served;
    const nowMs = this.options.nowMs();
    switch (failure?.reason) {
      case "ERROR_REASON_CANCELLED":
        return;
      case "ERROR_REASON_UPSTREAM_RATE_LIMITED":
        return health.wait(nowMs, failure.retryAfterMs ?? 1_000);
      case "ERROR_REASON_UPSTREAM_FAILED":
        if (failure.metadata["credential"] !== undefined) return health.refuse();
        return health.fail(nowMs);
      case "ERROR_REASON_UPSTREAM_UNAVAILABLE":
      case "ERROR_REASON_UPSTREAM_TIMEOUT":
        return health.fail(nowMs);
      default:
        return health.succeed(nowMs);
    }
  }

  async #backOff(error: GatewayError, attempt: number, signal: CancelSignal): Promise<void> {
    const asked = error.reason === "ERROR_REASON_UPSTREAM_RATE_LIMITED" ? undefined : error.retryAfterMs;
    const jittered = this.options.random() * Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MS_MAX);
    await pause(asked === undefined ? jittered : Math.min(asked, UPSTREAM_WAIT_MS_MAX), signal);
  }

  #takeDrain(target: Target): boolean {
    const taken = this.#drains < DRAINS_MAX;
    if (taken) this.#drains += 1;
    this.options.onDrain(target, taken ? "begun" : "refused", this.#drains);
    return taken;
  }

  #endDrain(target: Target): void {
    this.#drains -= 1;
    this.options.onDrain(target, "ended", this.#drains);
  }
}

/** Why no target could be tried at all: the upstreams asked us to wait, or none takes our credential. */
function nobody(model: ServedModel, nowMs: number): GatewayError {
  const waits = model.targets.map((target) => target.served.health.waitMs(nowMs)).filter((waitMs) => waitMs > 0);
  if (waits.length === 0) return new GatewayError("ERROR_REASON_UPSTREAM_UNAVAILABLE");
  return new GatewayError("ERROR_REASON_UPSTREAM_RATE_LIMITED", { retry_after_ms: String(Math.min(...waits)) });
}

/** The same target once more, where it is the only one and what went wrong may have passed. */
function again(last: GatewayError | undefined, tried: readonly Target[], nowMs: number): Target | undefined {
  if (last === undefined || last.reason === "ERROR_REASON_UPSTREAM_RATE_LIMITED") return undefined;
  return tried.find((target) => target.served.health.admits(nowMs));
}

/** Holds pings back until something visible came, so that a target that fails before can still be left for another. */
class FirstBatchGate implements BatchReceiver {
  open = false;

  constructor(private readonly receiver: AnswerReceiver) {}

  take(batch: Batch): boolean {
    if (!this.open && (batch.error !== undefined || !batch.visible)) return true;
    this.open = true;
    return this.receiver.take(batch);
  }

  onDrain(callback: () => void): void {
    this.receiver.onDrain(callback);
  }

  watch(report: AnswerReport): void {
    this.receiver.watch(report);
  }

  missed(): void {
    this.receiver.missed?.();
  }

  dropped(params: readonly string[]): void {
    this.receiver.dropped?.(params);
  }
}

function pause(durationMs: number, signal: CancelSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal.addEventListener("abort", done, { once: true });
  });
}
