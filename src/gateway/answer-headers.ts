/**
 * The head of an answer: which upstream answers, how long the request waited, and what else the upstream's headers say.
 */
import { type CallMetadata, FORM_HEADER } from "../api/channel.js";
import { GatewayError } from "../base/errors.js";
import type { UnifiedLimits } from "./unified-limits.js";

const COST_HEADER = "x-tollgate-cost-nanos";
const DROPPED_HEADER = "x-tollgate-dropped";
const DROPPED_CHARACTERS_MAX = 1_000;
/** Model names come from settings and from upstreams' lists, and may be any text. */
const HEADER_TEXT = /^[\x21-\x7e]{1,256}$/;

/** Which target answers, and in which form. */
export interface Answering {
  readonly form: "stream" | "whole";
  readonly upstream: string;
  /** The model name that the upstream uses. */
  readonly model: string;
  readonly attempts: number;
  readonly queueMs: number;
}

/** The head of one attempt. */
export class AnswerHead {
  /** Names of parameters that the upstream's wire does not have. */
  dropped: readonly string[] = [];
  limits: UnifiedLimits | undefined;

  /** The head of a stream that begins before its answer. It names no target, since another target may still answer. */
  early(known: CallMetadata): Record<string, string> {
    const headers: Record<string, string> = { ...known, [FORM_HEADER]: "stream" };
    if (this.dropped.length > 0) headers[DROPPED_HEADER] = droppedText(this.dropped);
    return headers;
  }

  /** The headers of the answer: `known` headers, and those of the target that answers. */
  headers(known: CallMetadata, { form, upstream, model, attempts, queueMs }: Answering): Record<string, string> {
    const headers: Record<string, string> = {};
    // Copied by hand, here and where headers become an answer: a spread of objects that differ costs a microsecond.
    for (const name in known) headers[name] = known[name] ?? "";
    headers[FORM_HEADER] = form;
    headers["x-tollgate-upstream"] = upstream;
    if (HEADER_TEXT.test(model)) headers["x-tollgate-model"] = model;
    headers["x-tollgate-attempts"] = String(attempts);
    headers["x-tollgate-overhead-ms"] = queueMs.toFixed(1);
    if (this.dropped.length > 0) headers[DROPPED_HEADER] = droppedText(this.dropped);
    if (this.limits !== undefined) Object.assign(headers, this.limits);
    return headers;
  }

  /** Adds to the attempt's error how long the operator's account at the upstream is exhausted. */
  failed(error: GatewayError): GatewayError {
    if (this.limits === undefined) return error;
    return new GatewayError(error.reason, { ...error.metadata, ...this.limits }, { cause: error.cause });
  }
}

/** Adds what a whole answer costs its account, in nano-USD: it is known before the body. */
export function withCost(headers: Record<string, string>, costNanos: bigint): Record<string, string> {
  headers[COST_HEADER] = String(costNanos);
  return headers;
}

/** The names of parameters as a header value: each once, as many as fit. Some names come from the client. */
function droppedText(params: readonly string[]): string {
  return [...new Set(params)]
    .join(", ")
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, DROPPED_CHARACTERS_MAX);
}
