/** Sees everything that a model answers on its way to the caller, and always knows what to charge for it. */
import { type Finish, type Usage, UsageSource } from "../api/index.js";
import { serviceTierOf } from "../api/service-tier.js";
import { NO_USAGE } from "../api/usage.js";
import type { ServedAs } from "../ledger/attempt-log.js";
import type { GatewayError } from "../base/errors.js";
import { whenReady } from "../base/when-ready.js";
import { billsCutRequests, endpointFor } from "../families/family.js";
import type { AttemptTrace } from "../observe/tracing.js";
import { ANSWERED, type AttemptFailure } from "../routing/attempt-types.js";
import type { Target } from "../routing/model.js";
import type { TakenLimits } from "../routing/target-limiter.js";
import type { AnswerReceiver } from "../routing/routing.js";
import type { AnswerReport, Batch } from "../wire/wire.js";
import { askedOf, type Bill, billOf, type ServedDoubt, toolUsesOf } from "./bill.js";
import { type Charge, chargeOf, type Ending, usageWithin } from "./charge.js";
import { AnswerHead, withCost } from "./answer-headers.js";
import { AttemptList } from "./attempt-list.js";
import { endedAttempt } from "./ended-attempt.js";
import { LeftAttempts } from "./left-attempts.js";
import type { MeteredTurn, MeterOptions, Outcome } from "./meter-types.js";
import { UsageCheckpoints } from "./usage-checkpoints.js";
import { isFarPastLimit, isPastLimit, withOutputWithin } from "./usage-cap.js";
import { StreamHead } from "./stream-head.js";
import { beginAttempt, endAttempt } from "./request-trace.js";
import { unifiedLimits } from "./unified-limits.js";
import { noteSent } from "./sent-request.js";
import type { UsageDoubt } from "./usage-doubt.js";

const EMPTY = Buffer.alloc(0);

export class Meter implements AnswerReceiver {
  #target: Target | undefined;
  readonly #attempts: AttemptList;
  /** True once the target may have read the request. */
  #isSent = false;
  #report: AnswerReport | undefined;
  #firstBatchMs: number | undefined;
  #whole: Batch | undefined;
  #head = new AnswerHead();
  #notes: UsageCheckpoints | undefined;
  #attemptTrace: AttemptTrace | undefined;
  #doubt: UsageDoubt | ServedDoubt | undefined;
  #left = new LeftAttempts();

  /** The head of a stream, which is sent before the answer if the answer is late. */
  readonly waiting: StreamHead | undefined;

  constructor(
    private turn: MeteredTurn,
    private readonly options: MeterOptions,
  ) {
    const { sink, stream, startMs } = options;
    this.#attempts = new AttemptList(startMs);
    if (stream) this.waiting = new StreamHead(sink, () => this.#head.early(this.turn.head), turn.model.streamHeadMs);
  }

  /** The upstream that answered or was tried last; empty if there was none. */
  get upstream(): string {
    return this.#target?.served.id ?? "";
  }

  get attempts(): number {
    return this.#attempts.count;
  }

  /** When the first batch arrived, in milliseconds after the request; undefined if none did. */
  get firstBatchMs(): number | undefined {
    return this.#firstBatchMs;
  }

  /** The upstream's name of the model that was tried last; empty if there was none. */
  get upstreamModel(): string {
    return this.#target?.model ?? "";
  }

  /** When the attempts began and, once they have ended, how long they took. */
  get times(): Pick<AttemptList, "queueMs" | "upstreamMs"> {
    return this.#attempts;
  }

  /** The next model has its turn, once the hold of the model before is settled. The attempts of both are logged. */
  fallBack(turn: MeteredTurn): void {
    this.turn = turn;
    this.#report = this.#notes = this.#doubt = undefined;
    this.#isSent = false;
    this.#left = new LeftAttempts();
  }

  begin(target: Target, taken?: TakenLimits): void {
    this.#leave();
    this.#attempts.begin(target, taken);
    this.waiting?.start();
    this.#target = target;
    this.#isSent = false;
    this.#report = undefined;
    this.#head = new AnswerHead();
    // What was read of an attempt before is nobody's.
    this.#notes = undefined;
    const { record } = this.options;
    record?.content?.restart();
    const trace = record?.trace;
    if (trace !== undefined) this.#attemptTrace = beginAttempt(trace, target, this.turn.kind, this.attempts);
  }

  /** Ends the current attempt, if there is one, without an answer for the caller: the operator pays its usage. */
  #leave(): void {
    if (this.#report?.usage === undefined) return;
    const usage = this.#allowed(this.#report.usage);
    this.#left.add(this.upstream, usage, this.#spent(usage));
  }

  /** Headers that tell the upstream which trace the attempt belongs to; undefined if nothing is traced. */
  attemptHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#attemptTrace?.headers;
  }

  sent(): void {
    this.#isSent = true;
    const { record, parsed } = this.options;
    if (record !== undefined && this.#target !== undefined) noteSent(record, this.#target, this.turn.kind, parsed);
  }

  underway(): void {
    this.waiting?.begun();
  }

  ended(failure: AttemptFailure | undefined): void {
    this.waiting?.again();
    // What an upstream refuses it does not bill.
    if (failure !== undefined && failure.status !== 0 && failure.status !== ANSWERED) this.#isSent = false;
    const trace = this.#attemptTrace;
    if (trace !== undefined)
      endAttempt(trace, failure?.error, this.#report?.servedModel ?? "", failure?.status ?? ANSWERED);
    this.#attempts.end(endedAttempt(failure, this.#target, this.turn, this.options.record), this.#firstBatchMs);
  }

  /** The attempt log for the ledger, once all attempts have ended. */
  get attemptLog(): string {
    return this.#attempts.encode({ upstream: this.upstream, model: this.turn.model.id }, this.#servedAs);
  }

  /** How the answer was served: as it reports, and as the bill assumed for what it does not report. */
  get #servedAs(): ServedAs | undefined {
    const report = this.#report;
    if (report === undefined || report.made === "nothing") return undefined;
    const { servedModel = "", serviceTier = "" } = report;
    const plan = askedOf(this.#target, this.turn);
    return {
      model: servedModel === this.#modelId ? "" : servedModel,
      serviceTier: serviceTier === "" ? plan.serviceTier : serviceTierOf(serviceTier),
      toolUses: toolUsesOf(report, plan),
    };
  }

  dropped(params: readonly string[]): void {
    this.#head.dropped = params;
  }

  limits(headers: Readonly<Record<string, string>>): void {
    this.#head.limits = unifiedLimits(headers);
  }

  /** The error of the request, for its client. */
  failed(error: GatewayError): GatewayError {
    return this.#head.failed(error);
  }

  watch(report: AnswerReport): void {
    this.#report = report;
  }

  onDrain(callback: () => void): void {
    this.options.sink.onDrain(callback);
  }

  take(batch: Batch, nowMs: number): boolean {
    if (this.#firstBatchMs === undefined) this.#begin(batch, nowMs);
    if (!this.options.stream) {
      // A whole answer waits for its cost, which stands in a header.
      this.#whole = batch;
      return true;
    }
    this.#see(nowMs);
    return (batch.events.length === 0 && batch.source.length === 0) || this.options.sink.data(batch);
  }

  #begin(batch: Batch, nowMs: number): void {
    const { startMs, record, createTime, stream, sink } = this.options;
    this.#firstBatchMs = nowMs - startMs;
    record?.trace?.event("first token", {});
    const start = batch.events[0]?.kind;
    if (start?.$case === "start") {
      start.value.createTime ??= createTime;
      start.value.inputTokens = BigInt(this.turn.plan.inputTokensMax);
    }
    if (stream && this.waiting?.take() !== false) sink.head(this.#headers("stream"));
  }

  look(nowMs: number): void {
    this.#see(nowMs);
  }

  exceeds(): boolean {
    if (this.#notes === undefined) return false;
    const limit = this.#limitTokens;
    const certainTokens = this.#certainTokens;
    if (isPastLimit(certainTokens, limit)) return true;
    const unknownTokens = this.#report?.unknownTokens ?? 0;
    return unknownTokens > 0 && isFarPastLimit(certainTokens + unknownTokens, limit);
  }

  roomTokens(): number {
    return this.#limitTokens - this.#certainTokens;
  }

  /** The most tokens that may be delivered; an answer that repeats its input may repeat it for each choice. */
  get #limitTokens(): number {
    const { request, plan, outputTokensMax = Infinity } = this.turn;
    const { repeatsInput = false, candidateCount } = request.facts;
    return repeatsInput ? outputTokensMax + plan.inputTokensMax * candidateCount : outputTokensMax;
  }

  /** The least tokens that were delivered: of text, and of audio whose length is known. */
  get #certainTokens(): number {
    return (this.#notes?.certainTokens ?? 0) + (this.#report?.audioTokens ?? 0);
  }

  /** What the answer used and costs, however it ended. Never rejects. */
  outcome(ending: Ending): Outcome | Promise<Outcome> {
    const { request, model, plan, outputTokensMax, kind } = this.turn;
    const [notes, grown] = [this.#notes, this.#report?.grown];
    const text = notes === undefined || grown === undefined ? undefined : { notes, grown };
    this.#gather();
    // What was read of a failed attempt, and of which nothing went out, is nobody's.
    const delivered = ending === "failed" && this.#firstBatchMs === undefined ? undefined : this.#report;
    const charging = chargeOf(delivered, ending, {
      request,
      modelId: this.#modelId,
      contextTokens: model.contextTokens,
      inputTokensMax: plan.inputTokensMax,
      price: model.price,
      units: request.facts.surface && this.#target && endpointFor(this.#target.served.family, request, kind).units,
      accountId: this.options.accountId,
      outputTokensMax,
      countOutput: text && (() => text.notes.output(text.grown)),
      estimateOutput: text && (() => text.notes.estimate(text.grown)),
      leastOutput: text && (() => text.notes.least(text.grown)),
      cutInput: this.#cutInput,
    });
    return whenReady(charging, (charge) => this.#outcome(charge));
  }

  get #cutInput(): "billed" | "unbilled" | undefined {
    const family = this.#target?.served.family;
    if (family === undefined || !this.#isSent) return undefined;
    return billsCutRequests(family) ? "billed" : "unbilled";
  }

  /** What is wrong with the upstream's report; undefined if nothing is. Known together with the outcome. */
  get doubt(): UsageDoubt | ServedDoubt | undefined {
    return this.#doubt;
  }

  /** True if the answer is written for its client only after it can be settled. */
  get isUnwritten(): boolean {
    return this.#whole?.long !== undefined;
  }

  /** Writes such an answer. Rejects with UPSTREAM_FAILED or OVERLOADED. */
  async write(outcome: Outcome): Promise<void> {
    const long = this.#whole?.long;
    if (long === undefined || this.#whole === undefined) return;
    const { acceptWire, createTime } = this.options;
    const source = await long.write(acceptWire, this.#told(outcome, outcome.costNanos), createTime);
    this.#whole = { ...this.#whole, source, long: undefined };
  }

  /** Discards the answer, as if nothing had been delivered; the upstream bills it all the same. */
  forget(): void {
    this.#leave();
    this.#whole = undefined;
    this.#report = undefined;
    this.#firstBatchMs = undefined;
  }

  /** Ends a complete answer with its last batch and the finish. `chargedNanos` is what the account pays for it. */
  end(outcome: Outcome, chargedNanos: bigint): void {
    const { sink, stream } = this.options;
    if (!stream) sink.head(withCost(this.#headers("whole"), chargedNanos));
    const last = { kind: { $case: "finish" as const, value: this.#told(outcome, chargedNanos) } };
    const { events = [], source = this.#report?.ending ?? EMPTY, embeddings } = this.#whole ?? {};
    sink.data({ events: [...events, last], source, embeddings });
  }

  /** What the caller receives: an answer without content is free, but its upstream's report is passed on. */
  #told({ usage, usageSource }: Outcome, chargedNanos: bigint): Finish {
    const isFree = usageSource === UsageSource.USAGE_SOURCE_NONE;
    return { usage: isFree ? (this.#report?.usage ?? usage) : usage, usageSource, costNanos: chargedNanos };
  }

  /** The model that answers, by the upstream's name, which determines the tokenizer. */
  get #modelId(): string {
    return this.#target?.model ?? this.turn.model.id;
  }

  #outcome({ usage: charged, usageSource, doubt: told, unbilled }: Charge): Outcome {
    const { hold, outputTokensMax } = this.turn;
    const isPast = outputTokensMax !== undefined && this.exceeds();
    const usage = isPast ? withOutputWithin(charged, outputTokensMax) : charged;
    const doubt = isPast ? "above_limit" : told;
    if (usageSource === UsageSource.USAGE_SOURCE_NONE) {
      this.#doubt = doubt;
      // What is free for the caller may all the same have been reported, and is then the operator's cost.
      const free = this.#allowed(this.#report?.usage ?? unbilled ?? NO_USAGE);
      const operatorCostNanos = this.#left.costWith(this.#spent(free));
      const uncharged = this.#left.with(this.upstream, free);
      return { usage, usageSource, costNanos: 0n, operatorCostNanos, unbilled, uncharged };
    }
    const bill = this.#bill(usage);
    this.#doubt = doubt ?? bill.doubt ?? (bill.costNanos > hold.amountNanos ? "above_hold" : undefined);
    const operatorCostNanos = this.#left.costWith(this.#spent(usage, bill));
    const uncharged = this.#left.with(this.upstream, undefined);
    return { usage, usageSource, costNanos: bill.costNanos, operatorCostNanos, uncharged };
  }

  /** What the operator pays for the usage of the last attempt. It counts in the limits of the target. */
  #spent(usage: Usage, { operatorCostNanos } = this.#bill(usage)): bigint | undefined {
    return this.#attempts.settle(usage, operatorCostNanos);
  }

  /** The usage, reduced to what the plan allows. */
  #allowed(usage: Usage): Usage {
    const { request, plan, outputTokensMax } = this.turn;
    return usageWithin(usage, { request, inputTokensMax: plan.inputTokensMax, outputTokensMax });
  }

  /** What a usage costs, by what the answer reported so far. */
  #bill(usage: Usage): Bill {
    const { model, hold } = this.turn;
    const [report, target, price] = [this.#report, this.#target, model.price];
    const plan = askedOf(target, this.turn);
    const told = report?.servedModel ?? "";
    const answered =
      told === "" || target === undefined ? undefined : this.options.routing.answeredAs(told, model, target);
    return billOf(usage, report, { price, cost: target?.cost, plan, heldNanos: hold.amountNanos, answered });
  }

  /** Stores the content of the answer, before any of it is dropped. */
  #gather(): void {
    const content = this.options.record?.content;
    if (content === undefined) return;
    const grown = this.#report?.grown;
    if (grown !== undefined) content.follow(grown);
    else if (this.#whole !== undefined) content.whole(this.#whole.source, this.#report?.text ?? "");
  }

  #see(nowMs: number): void {
    if (this.options.record?.content !== undefined) this.#gather();
    this.#notes ??= this.#newNotes();
    this.#notes.see(this.#report, nowMs);
  }

  #newNotes(): UsageCheckpoints {
    const { startMs, accountId } = this.options;
    const { request, plan } = this.turn;
    const bounds = { request, modelId: this.#modelId, inputTokensMax: plan.inputTokensMax };
    return new UsageCheckpoints({ ...bounds, startMs, accountId, note: (usage) => this.#note(usage) });
  }

  #note(delivered: Usage): void {
    // Of an answer that is gathered nothing is delivered before its end.
    if (!this.options.stream) return;
    const usage = this.#allowed(delivered);
    const { costNanos, operatorCostNanos } = this.#bill(usage);
    this.turn.hold.checkpoint({
      usage,
      costNanos,
      operatorCostNanos: this.#left.costWith(operatorCostNanos),
      upstream: this.upstream,
      attempts: this.attempts,
    });
  }

  #headers(form: "stream" | "whole"): Record<string, string> {
    const { upstream, upstreamModel: model, attempts } = this;
    return this.#head.headers(this.turn.head, { form, upstream, model, attempts, queueMs: this.times.queueMs });
  }
}
