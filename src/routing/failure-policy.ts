/** What a failed attempt teaches: of its target's health, of the request, and where to go next. */
import { GatewayError, type ReasonName } from "../base/errors.js";
import { holdsWords } from "../wire/error/echo.js";
import { type RefusalKind, UpstreamRefusal } from "../wire/error/upstream-refusal.js";
import type { WireRequest } from "../wire/wire.js";
import type { AttemptFailure } from "./attempt-types.js";
import type { EjectionCause, Evidence } from "./ejection.js";
import type { TargetHealth } from "./upstream-health.js";
import type { Target } from "./model.js";

/** What can be tried after a failure. */
interface Next {
  /** Another target may take the request. */
  readonly shouldFailover: boolean;
  /** The same target may take it a little later. */
  readonly repeats: boolean;
  /** One other target, and no more: the request is to blame. */
  readonly once: boolean;
}

const ENDS: Next = { shouldFailover: false, repeats: false, once: false };
const GOES_ON: Next = { shouldFailover: true, repeats: false, once: false };
const ONCE: Next = { shouldFailover: true, repeats: false, once: true };
const REPEATS: Next = { shouldFailover: true, repeats: true, once: false };

const NEXT_OF_KIND: Readonly<Record<RefusalKind, Next>> = {
  no_funds: GOES_ON,
  credential: GOES_ON,
  access: GOES_ON,
  model: GOES_ON,
  forbidden: GOES_ON,
  rate: GOES_ON,
  // Another server of the same model may have more room, or be able to do it.
  context: ONCE,
  feature: ONCE,
  size: ENDS,
  request: ENDS,
  timeout: REPEATS,
  unavailable: REPEATS,
  failure: REPEATS,
};

/** Of failures that no refusal told: no connection, a cut, silence, an answer that cannot be read. */
const OF_UPSTREAM: ReadonlySet<ReasonName> = new Set([
  "ERROR_REASON_UPSTREAM_FAILED",
  "ERROR_REASON_UPSTREAM_UNAVAILABLE",
  "ERROR_REASON_UPSTREAM_TIMEOUT",
]);

function kindOf(error: GatewayError): RefusalKind | undefined {
  return error.cause instanceof UpstreamRefusal ? error.cause.kind : undefined;
}

/** An upstream may repeat what a client wrote: words that stand in the request say nothing of the gateway's account. */
export function ofOwnWords(failure: AttemptFailure, request: WireRequest): AttemptFailure {
  const { cause } = failure.error;
  const words = cause instanceof UpstreamRefusal ? cause.words : undefined;
  if (words === undefined || !holdsWords(request, words.said)) return failure;
  return { ...failure, error: words.otherwise };
}

/** What may be tried after this error, which ended an attempt before anything was visible. */
export function nextAfter(error: GatewayError): Next {
  const kind = kindOf(error);
  // An answer of 500 that turned out to be the request's own fault.
  if (kind === "failure" && error.reason === "ERROR_REASON_UPSTREAM_REJECTED") return ONCE;
  if (kind !== undefined) return NEXT_OF_KIND[kind];
  // A target that was silent for all of its time is not waited for once more.
  if (error.reason === "ERROR_REASON_UPSTREAM_TIMEOUT") return GOES_ON;
  return OF_UPSTREAM.has(error.reason) ? REPEATS : ENDS;
}

/** What an attempt that its client ended says: only that the client waited in vain for so long. */
export interface ClientAbort {
  /** For the first output, or for the next. */
  readonly waitedMs: number;
}

/** Tells the target's health what an attempt says of it. `left` where its client, or its deadline, ended it. */
export function recordOutcome(
  health: TargetHealth,
  evidence: Evidence,
  failure: AttemptFailure | undefined,
  left: ClientAbort | undefined,
): void {
  const { token, accountId } = evidence;
  if (failure === undefined) return health.succeed(evidence);
  const { error, status } = failure;
  const hasAnswered = status !== 0;
  if (left !== undefined) {
    return health.abandoned(evidence, left.waitedMs, hasAnswered);
  }
  const kind = kindOf(error);
  switch (kind) {
    case "credential":
    case "no_funds":
    case "access":
      return health.refuse(evidence, kind);
    case "model":
      return health.refuse(evidence, "model_unknown");
    case "rate":
      return health.rateLimited(evidence, error.retryAfterMs);
    case "context":
    case "feature":
      // A server that is broken may say so too: only a plain refusal shows that it works.
      if (status < 500) health.answered(token, accountId);
      return;
    case "size":
    case "request":
    // A client can make an upstream say so in words, and a 402 or 403 without a code is about its own request.
    case "forbidden":
      return health.answered(token, accountId);
    case "timeout":
    case "unavailable":
    case "failure":
      return health.fail(evidence, true);
    case undefined:
      // An answer that came until our last moment was long, and no more.
      if (failure.hasOutput && error.metadata["phase"] === "total") return;
      if (OF_UPSTREAM.has(error.reason)) health.fail(evidence, hasAnswered);
      return;
    default:
      return kind satisfies never;
  }
}

/** What a client is told of two failures of its request, the later one given last. */
export function toldOf(told: GatewayError | undefined, last: GatewayError): GatewayError {
  if (told === undefined) return last;
  // A refused credential is the operator's to mend: the client is told it only where nothing else failed.
  if (last.reason === "ERROR_REASON_UPSTREAM_CREDENTIAL") return told;
  // What is wrong with the request helps its client more than that another target is broken as well.
  return nextAfter(told).once && last.reason === "ERROR_REASON_UPSTREAM_FAILED" ? told : last;
}

/** Only an operator, or a proof, takes these back: nobody knows when. */
const WITHOUT_END: ReadonlySet<EjectionCause | undefined> = new Set([
  "credential",
  "no_funds",
  "access",
  "model_unknown",
]);

/** Those that come back by themselves. */
function returning(targets: readonly Target[], nowMs: number, accountId: string): readonly Target[] {
  return targets.filter(({ health }) => !WITHOUT_END.has(health.causeFor(nowMs, accountId)));
}

/** How long until the first of the targets may serve this account. */
function earliestMs(targets: readonly Target[], nowMs: number, accountId: string): number {
  return Math.min(...targets.map(({ health }) => health.waitMs(nowMs, accountId)));
}

/** A target that failed and is not ejected may be asked again this soon. */
const SOON_MS = 1_000;

/** A rate limit with the wait of the target that is back first; `others` are those that did not tell it. */
export function withEarliest(
  error: GatewayError,
  others: readonly Target[],
  nowMs: number,
  accountId: string,
): GatewayError {
  const toldMs = error.retryAfterMs;
  if (error.reason !== "ERROR_REASON_UPSTREAM_RATE_LIMITED" || toldMs === undefined) return error;
  // Of no target this is infinite, and the wait stays as it was told.
  const waitMs = Math.max(SOON_MS, Math.ceil(earliestMs(returning(others, nowMs, accountId), nowMs, accountId)));
  if (waitMs >= toldMs) return error;
  return new GatewayError(error.reason, { ...error.metadata, retry_after_ms: String(waitMs) }, { cause: error.cause });
}

/** Why no target could be asked: what ejects them for this account, and how soon one may be. */
export function nobody(targets: readonly Target[], nowMs: number, accountId: string): GatewayError {
  const causes = targets.map(({ health }) => health.causeFor(nowMs, accountId));
  if (targets.length === 0) return new GatewayError("ERROR_REASON_UPSTREAM_UNAVAILABLE");
  if (causes.every((cause) => cause === "no_funds")) {
    return new GatewayError("ERROR_REASON_UPSTREAM_CREDENTIAL", {
      problem: "the operator's account there has no funds",
    });
  }
  if (causes.every((cause) => cause === "credential" || cause === "no_funds" || cause === "access")) {
    return new GatewayError("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: "its credential was refused" });
  }
  const back = returning(targets, nowMs, accountId);
  const waitMs = earliestMs(back.length > 0 ? back : targets, nowMs, accountId);
  const metadata = { retry_after_ms: String(Math.max(1, Math.ceil(waitMs))) };
  const isAtLimit = causes.some((cause) => cause === "rate_limited");
  return new GatewayError(
    isAtLimit ? "ERROR_REASON_UPSTREAM_RATE_LIMITED" : "ERROR_REASON_UPSTREAM_UNAVAILABLE",
    metadata,
  );
}
