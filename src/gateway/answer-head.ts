/** The head of an answer: which upstream answers, after which wait, and what it told beside the answer. */
import { type CallMetadata, FORM_HEADER } from "../api/channel.js";
import { GatewayError } from "../errors.js";
import type { UnifiedLimits } from "./unified-limits.js";

const DROPPED_HEADER = "x-tollgate-dropped";
const DROPPED_CHARACTERS_MAX = 1_000;
/** Names of models come from settings and from upstreams' lists, and may be any text. */
const HEADER_TEXT = /^[\x21-\x7e]{1,256}$/;

/** Who answers, and how. */
export interface Answering {
  readonly form: "stream" | "whole";
  readonly upstream: string;
  /** As the upstream names it. */
  readonly model: string;
  readonly attempts: number;
  readonly queueMs: number;
}

/** Of one attempt. */
export class AnswerHead {
  /** Names of parameters that the upstream's wire has no place for. */
  dropped: readonly string[] = [];
  limits: UnifiedLimits | undefined;

  /** Those of a stream that begins before its answer: it names no target, since another one may answer. */
  early(known: CallMetadata): Record<string, string> {
    const headers: Record<string, string> = { ...known, [FORM_HEADER]: "stream" };
    if (this.dropped.length > 0) headers[DROPPED_HEADER] = droppedText(this.dropped);
    return headers;
  }

  /** The headers of the answer, over what is `known` before there is one. */
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

  /** What the attempt failed with, and for how long the operator's account is used up. */
  failed(error: GatewayError): GatewayError {
    if (this.limits === undefined) return error;
    return new GatewayError(error.reason, { ...error.metadata, ...this.limits }, { cause: error.cause });
  }
}

/** The names of parameters as a header: each once, as far as they fit. Some are the client's own. */
function droppedText(params: readonly string[]): string {
  return [...new Set(params)]
    .join(", ")
    .replaceAll(/[^\x20-\x7e]/g, "?")
    .slice(0, DROPPED_CHARACTERS_MAX);
}
