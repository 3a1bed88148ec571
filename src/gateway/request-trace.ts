/** The attributes of a traced request, by OpenTelemetry's names for generative AI. They contain no content. */
import type { Usage } from "../api/index.js";
import type { GatewayError } from "../base/errors.js";
import { MODEL_KINDS, type ModelKind } from "../api/model-kinds.js";
import type { AttemptTrace, RequestTrace } from "../observe/tracing.js";
import type { ServedModel, Target } from "../routing/model.js";
import type { WireRequest } from "../wire/wire.js";
import type { GatewayCall } from "./gateway.js";
import { approximateUsd } from "../base/money.js";

/** Sets what a request asks for and who asks, once it is admitted. */
export function describeRequest(
  { requestId, caller, record }: GatewayCall,
  { facts }: WireRequest,
  model: ServedModel,
  kind: ModelKind,
): void {
  // A refusal that follows names the model as well. Another name in the request stands beside it.
  if (record !== undefined) {
    record.model = model.id;
    record.askedModel = facts.model === model.id ? "" : facts.model;
  }
  const trace = record?.trace;
  if (trace?.isKept !== true) return;
  const operation = MODEL_KINDS[kind].operation;
  trace.rename(`${operation} ${model.id}`);
  trace.setAttributes({
    "gen_ai.operation.name": operation,
    "gen_ai.request.model": model.id,
    "tollgate.asked_model": record?.askedModel || undefined,
    "gen_ai.request.choice.count": facts.candidateCount === 1 ? undefined : facts.candidateCount,
    "gen_ai.request.max_tokens": facts.outputTokensMax === 0 ? undefined : facts.outputTokensMax,
    "tollgate.stream": facts.stream,
    "tollgate.request_id": requestId,
    "tollgate.account": caller.accountId,
    "tollgate.key": caller.keyId,
  });
}

/** Starts the span of an attempt, and records the failure of the attempt before it, if any. */
export function beginAttempt(
  trace: RequestTrace,
  { model, served }: Target,
  kind: ModelKind,
  attempt: number,
): AttemptTrace {
  if (!trace.isKept) return trace.beginAttempt("", {});
  if (attempt > 1) trace.event("failover", { "tollgate.upstream": served.id, "tollgate.attempt": attempt });
  const operation = MODEL_KINDS[kind].operation;
  const url = URL.canParse(served.baseUrl) ? new URL(served.baseUrl) : undefined;
  return trace.beginAttempt(`${operation} ${model}`, {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": served.family.telemetryName ?? served.family.name,
    "gen_ai.request.model": model,
    "server.address": url?.hostname,
    "server.port": url === undefined ? undefined : portOf(url),
    "tollgate.upstream": served.id,
    "tollgate.attempt": attempt,
  });
}

function portOf({ port, protocol }: URL): number {
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}

/**
 * Ends the span of an attempt. `servedModel` is empty if the answer does not name it, `status` is 0 if none arrived.
 */
export function endAttempt(
  trace: AttemptTrace,
  error: GatewayError | undefined,
  servedModel: string,
  status: number,
): void {
  const attributes = {
    "http.response.status_code": status === 0 ? undefined : status,
    "gen_ai.response.model": servedModel === "" ? undefined : servedModel,
  };
  trace.end(attributes, error?.reasonWord);
}

/** Sets what an answer used and cost, when its settlement has been sent. */
export function traceOutcome(
  trace: RequestTrace,
  { upstream, attempts }: { readonly upstream: string; readonly attempts: number },
  usage: Usage,
  chargedNanos: bigint,
): void {
  if (!trace.isKept) return;
  const { inputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens, reasoningTokens } = usage;
  const written = cacheWriteTokens + cacheWrite1hTokens;
  const cost = { "tollgate.charged_usd": approximateUsd(chargedNanos) };
  trace.event("settlement", cost);
  trace.setAttributes({
    "gen_ai.usage.input_tokens": Number(inputTokens + cacheReadTokens + written),
    "gen_ai.usage.output_tokens": Number(outputTokens + reasoningTokens),
    "gen_ai.usage.cache_read.input_tokens": Number(cacheReadTokens),
    "gen_ai.usage.cache_creation.input_tokens": Number(written),
    "tollgate.upstream": upstream === "" ? undefined : upstream,
    "tollgate.attempts": attempts,
    ...cost,
  });
}
