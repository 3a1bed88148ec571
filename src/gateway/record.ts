/** What is written when a request has ended: its record, one log line and the metrics. */
import type { AffinityState } from "../api/affinity.js";
import type { CacheMarker } from "../api/cache-marks.js";
import { type Usage, UsageSource } from "../api/index.js";
import { metersCell } from "../api/meters.js";
import type { GatewayError } from "../base/errors.js";
import { cacheSavedNanos } from "../pricing/cache-saved.js";
import type { Hold } from "../ledger/ledger.js";
import { count, type ModelCounts } from "../observe/model-counts.js";
import type { ServedModel } from "../routing/model.js";
import type { GatewayCall } from "./gateway.js";
import type { Meter } from "./meter.js";
import type { Outcome } from "./meter-types.js";
import { traceOutcome } from "./request-trace.js";
import type { Steps } from "./steps.js";

export interface Ended {
  readonly call: GatewayCall;
  readonly model: ServedModel;
  readonly meter: Meter;
  readonly outcome: Outcome;
  readonly hold: Pick<Hold, "createTimeMs">;
  /** The part of the cost that the account paid. */
  readonly chargedNanos: bigint;
  readonly failure: GatewayError | undefined;
  readonly startMs: number;
  /** The output limit to which the request was lowered; undefined if it was not. */
  readonly clampedTo: number | undefined;
}

/** A turn that failed, and the model that has the next one. */
export interface FallenBack extends Pick<Ended, "call" | "meter" | "outcome" | "failure" | "model"> {
  readonly next: ServedModel;
}

const sourceNames: string[] = [];

function sourceName(source: UsageSource): string {
  return (sourceNames[source] ??= UsageSource[source].slice("USAGE_SOURCE_".length).toLowerCase());
}

export function recordOutcome(ended: Ended, steps: Steps): void {
  const { call, model, meter, outcome, chargedNanos, failure } = ended;
  const { usage, usageSource, costNanos } = outcome;
  const trace = call.record?.trace;
  if (trace !== undefined) traceOutcome(trace, meter, usage, chargedNanos);
  publish(ended);
  const source = sourceName(usageSource);
  const end = failure === undefined ? "finished" : failure.reasonWord;
  const { metrics } = steps;
  const label = model.wildcard ?? model.id;
  if (model.alias !== undefined) metrics.aliasRequests.add(model.alias, label);
  const counts = metrics.model(label);
  count(counts.ends, end);
  count(counts.sources, source);
  counts.costNanos += Number(chargedNanos);
  count(counts.tokens, "input", Number(usage.inputTokens));
  count(counts.tokens, "cache_read", Number(usage.cacheReadTokens));
  count(counts.tokens, "output", Number(usage.outputTokens));
  count(counts.tokens, "reasoning", Number(usage.reasoningTokens));
  const affinity = call.record?.affinity;
  if (affinity !== undefined) countInput(counts, affinity.state, usage);
  const marker = call.record?.cacheMarks;
  if (marker !== undefined) countSaved(counts, marker, cacheSavedNanos(usage, model.price));
  for (const { unit, quantity } of usage.meters) count(counts.units, unit, Number(quantity));
  for (const { upstream: told, tokens } of outcome.uncharged) metrics.unbilledTokens.inc({ upstream: told }, tokens);
  const { doubt } = meter;
  if (doubt !== undefined) metrics.usageDoubts.inc({ upstream: meter.upstream, doubt });
  const { upstream, firstBatchMs } = meter;
  const durationMs = performance.now() - ended.startMs;
  metrics.generationSeconds.note(durationMs / 1_000, label, upstream);
  if (meter.attempts > 0) metrics.overheadSeconds.note(meter.times.queueMs / 1_000, label, upstream);
  if (firstBatchMs !== undefined) metrics.firstTokenSeconds.note(firstBatchMs / 1_000, label, upstream);
  const fields = {
    request_id: call.requestId,
    // Without a trace the line does not have them.
    trace_id: trace?.traceId,
    span_id: trace?.spanId,
    account: call.caller.accountId,
    key: call.caller.keyId,
    model: model.id,
    // Without another name in the request the line does not have it.
    asked_model: call.record?.askedModel || undefined,
    upstream,
    attempts: meter.attempts,
    end,
    usage_source: source,
    // Without one the line does not have it.
    usage_doubt: doubt,
    input_tokens: Number(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens),
    output_tokens: Number(usage.outputTokens + usage.reasoningTokens),
    // Without other units the line does not have them.
    meters: usage.meters.length === 0 ? undefined : metersCell(usage.meters),
    cost_nanos: String(costNanos),
    charged_nanos: String(chargedNanos),
    first_batch_ms: firstBatchMs === undefined ? null : Math.round(firstBatchMs),
    duration_ms: Math.round(durationMs),
  };
  if (failure === undefined || failure.reason === "ERROR_REASON_CANCELLED") steps.log.info(fields, "generation");
  else {
    // The failure's own message may quote an upstream that quotes the prompt, so the log gets what caused it.
    const { metadata, cause } = failure;
    steps.log.warn({ ...fields, problem: metadata["problem"] ?? null, err: cause ?? failure }, "generation");
  }
}

/** Records that another model has its turn, because all targets of the model before failed. */
export function recordFallback(
  { call, meter, outcome, failure, model, next }: FallenBack,
  { log, metrics }: Pick<Steps, "log" | "metrics">,
): void {
  metrics.fallbacks.inc({ model: model.wildcard ?? model.id, fallback: next.wildcard ?? next.id });
  for (const { upstream, tokens } of outcome.uncharged) metrics.unbilledTokens.inc({ upstream }, tokens);
  call.record?.trace?.event("fallback", { "tollgate.fallback": next.id });
  const said = { request_id: call.requestId, model: model.id, fallback: next.id, attempts: meter.attempts };
  log.warn({ ...said, end: failure?.reasonWord }, "fallback");
}

/** Counts the input by affinity, so that the share of it that came from prompt caches can be compared. */
function countInput({ affinityTokens }: ModelCounts, state: AffinityState, usage: Usage): void {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const counts = (affinityTokens[state] ??= { cacheRead: 0, other: 0 });
  counts.cacheRead += Number(cacheReadTokens);
  counts.other += Number(inputTokens + cacheWriteTokens + cacheWrite1hTokens);
}

function countSaved({ cacheSavedNanos: saved }: ModelCounts, marker: CacheMarker, nanos: bigint): void {
  saved[marker] = (saved[marker] ?? 0) + Number(nanos);
}

/** Publishes the request to the listeners for ended requests. */
function publish(ended: Ended): void {
  const { model, meter, hold, outcome, chargedNanos, failure, clampedTo } = ended;
  const { record } = ended.call;
  if (record === undefined) return;
  const { usage, usageSource, costNanos, operatorCostNanos } = outcome;
  // As the ledger names it, also where it was asked for by another name.
  record.model = model.id;
  record.answer = {
    createTimeMs: hold.createTimeMs,
    upstream: meter.upstream,
    upstreamModel: meter.upstreamModel,
    attempts: meter.attempts,
    queueMs: meter.times.queueMs,
    firstTokenMs: meter.firstBatchMs,
    upstreamMs: meter.times.upstreamMs,
    usage,
    usageSource,
    costNanos,
    chargedNanos,
    operatorCostNanos,
    clampedTo,
    cacheSavedNanos: cacheSavedNanos(usage, model.price),
  };
  record.end(failure);
}
