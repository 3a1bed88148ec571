/** Sees everything that a model answers on its way to the caller, and knows at any moment what to charge for it. */
import { type StreamGenerateResponse, type Usage, UsageSource } from "../api/index.js";
import { NO_USAGE } from "../api/usage.js";
import { type CallMetadata, FORM_HEADER, type Sink } from "../api/channel.js";
import type { Hold } from "../ledger/ledger.js";
import { costNanos } from "../pricing/price.js";
import type { ServedModel, Target } from "../routing/model.js";
import type { AnswerReceiver } from "../routing/routing.js";
import type { AnswerReport, Batch, WireRequest } from "../wire/wire.js";
import { countUsage, generatedTokens, tokensAtLeast } from "./count.js";
import type { Plan } from "./plan.js";

// What a crash may lose of a live stream: two seconds, or a thousand characters, which are fewer than a thousand
// tokens.
const CHECKPOINT_MS = 2_000;
const CHECKPOINT_CHARACTERS = 1_000;
const DROPPED_CHARACTERS_MAX = 1_000;
const EMPTY = Buffer.alloc(0);

export interface MeterOptions {
  readonly request: WireRequest;
  readonly model: ServedModel;
  readonly plan: Plan;
  readonly hold: Hold;
  readonly sink: Sink<StreamGenerateResponse>;
  readonly stream: boolean;
  /** Headers of the answer that are known before it. */
  readonly head: CallMetadata;
  readonly startMs: number;
  /** When the answer was made, for an upstream that does not tell. */
  readonly createTime: Date;
}

/** What an answer used and costs, and how that is known. */
export interface Outcome {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly costNanos: bigint;
}

export class Meter implements AnswerReceiver {
  #target: Target | undefined;
  #attempts = 0;
  #report: AnswerReport | undefined;
  #overheadMs = 0;
  #firstBatchMs: number | undefined;
  #whole: Batch | undefined;
  #dropped: readonly string[] = [];
  #checkpointMs = performance.now();
  #checkpointCharacters = 0;
  #checkpointTokens = 0;

  constructor(private readonly options: MeterOptions) {}

  /** The upstream that answered or was tried last; empty where none was. */
  get upstream(): string {
    return this.#target?.served.id ?? "";
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** When the first batch came, in milliseconds after the request; undefined where none did. */
  get firstBatchMs(): number | undefined {
    return this.#firstBatchMs;
  }

  begin(target: Target, attempts: number): void {
    if (attempts === 1) this.#overheadMs = performance.now() - this.options.startMs;
    this.#target = target;
    this.#attempts = attempts;
    this.#report = undefined;
    this.#dropped = [];
  }

  dropped(params: readonly string[]): void {
    this.#dropped = params;
  }

  watch(report: AnswerReport): void {
    this.#report = report;
  }

  onDrain(callback: () => void): void {
    this.options.sink.onDrain(callback);
  }

  take(batch: Batch): boolean {
    const nowMs = performance.now();
    if (this.#firstBatchMs === undefined) {
      this.#firstBatchMs = nowMs - this.options.startMs;
      const start = batch.events[0]?.kind;
      if (start?.$case === "start") start.value.createTime ??= this.options.createTime;
      if (this.options.stream) this.options.sink.head(this.#head("stream"));
    }
    if (!this.options.stream) {
      // A whole answer waits for its cost, which stands in a header.
      this.#whole = batch;
      return true;
    }
    this.#checkpoint(nowMs);
    if (batch.events.length === 0 && batch.source.length === 0) return true;
    return this.options.sink.data({ events: batch.events, source: batch.source });
  }

  /** What the answer used and costs, however it ended. */
  async outcome(): Promise<Outcome> {
    const report = this.#report;
    const { usage: reported, text } = report ?? { usage: undefined, text: "" };
    if (reported !== undefined && !contradicts(reported, text)) {
      // A request for no output at all only warms a cache, and has what it asked for.
      const isWarming = this.options.request.facts.outputTokensMax === 0;
      const generated = isWarming || text !== "" || reported.reasoningTokens + reported.audioOutputTokens > 0n;
      if (generated) return this.#outcome(reported, UsageSource.USAGE_SOURCE_REPORTED);
    }
    if (text === "") return this.#outcome(NO_USAGE, UsageSource.USAGE_SOURCE_NONE);
    const counted = await countUsage(this.options.request, text, this.options.plan.inputTokensMax);
    return this.#outcome(counted, UsageSource.USAGE_SOURCE_COUNTED);
  }

  /** Ends a good answer: the last batch, with the finish. */
  end(outcome: Outcome): void {
    const { sink, stream } = this.options;
    if (!stream) {
      const head = this.#head("whole");
      head["x-tollgate-cost-nanos"] = String(outcome.costNanos);
      sink.head(head);
    }
    const last = { kind: { $case: "finish" as const, value: this.#told(outcome) } };
    sink.data({ events: [...(this.#whole?.events ?? []), last], source: this.#whole?.source ?? EMPTY });
  }

  /** What the caller is told: an answer without content is free, but its upstream's report is told as it is. */
  #told(outcome: Outcome): Outcome {
    const reported = this.#report?.usage;
    if (outcome.usageSource !== UsageSource.USAGE_SOURCE_NONE || reported === undefined) return outcome;
    return { ...outcome, usage: reported };
  }

  #outcome(usage: Usage, usageSource: UsageSource): Outcome {
    const free = usageSource === UsageSource.USAGE_SOURCE_NONE;
    return { usage, usageSource, costNanos: free ? 0n : costNanos(usage, this.options.model.price) };
  }

  /** Notes what was delivered. It never notes more than was generated, so that a crash never overcharges. */
  #checkpoint(nowMs: number): void {
    const text = this.#report?.text ?? "";
    const grown = text.length - this.#checkpointCharacters;
    if (grown < CHECKPOINT_CHARACTERS && (grown === 0 || nowMs - this.#checkpointMs < CHECKPOINT_MS)) return;
    this.#checkpointTokens += Math.max(0, tokensAtLeast(text.slice(this.#checkpointCharacters)) - 1);
    this.#checkpointCharacters = text.length;
    this.#checkpointMs = nowMs;
    const usage = { ...NO_USAGE, outputTokens: BigInt(this.#checkpointTokens) };
    this.options.hold.checkpoint({
      usage,
      costNanos: costNanos(usage, this.options.model.price),
      upstream: this.upstream,
      attempts: this.#attempts,
    });
  }

  #head(form: "stream" | "whole"): Record<string, string> {
    const head: Record<string, string> = {};
    const before = this.options.head;
    // Copied by hand, here and where headers become an answer: a spread of objects that differ costs a microsecond.
    for (const name in before) head[name] = before[name] ?? "";
    head[FORM_HEADER] = form;
    head["x-tollgate-upstream"] = this.upstream;
    head["x-tollgate-attempts"] = String(this.#attempts);
    head["x-tollgate-overhead-ms"] = this.#overheadMs.toFixed(1);
    if (this.#dropped.length > 0) head["x-tollgate-dropped"] = droppedText(this.#dropped);
    return head;
  }
}

/** The names of parameters as a header: each once, as far as they fit. */
function droppedText(params: readonly string[]): string {
  return [...new Set(params)].join(", ").slice(0, DROPPED_CHARACTERS_MAX);
}

/** True where the upstream's report cannot be true: nothing generated, although something came. */
function contradicts(usage: Usage, text: string): boolean {
  return text !== "" && generatedTokens(usage) === 0n;
}
