/** What a failed attempt teaches: of its target's health, of the request, and where to go next. */
import { GatewayError, type ReasonName } from "../errors.js";
import { holdsWords } from "../wire/error/echo.js";
import { type RefusalKind, UpstreamRefusal } from "../wire/error/upstream-refusal.js";
import type { WireRequest } from "../wire/wire.js";
import type { AttemptFailure } from "./attempt-types.js";
import type { Evidence } from "./ejection.js";
import type { TargetHealth } from "./upstream-health.js";
import type { Target } from "./model.js";

/** What can be tried after a failure. */
interface Next {
  /** Another target may take the request. */
  readonly goesOn: boolean;
  /** The same target may take it a little later. */
  readonly repeats: boolean;
}

const ENDS: Next = { goesOn: false, repeats: false };
const GOES_ON: Next = { goesOn: true, repeats: false };
const REPEATS: Next = { goesOn: true, repeats: true };

const NEXT_OF_KIND: Readonly<Record<RefusalKind, Next>> = {
  no_funds: GOES_ON,
  credential: GOES_ON,
  access: GOES_ON,
  model: GOES_ON,
  forbidden: GOES_ON,
  rate: GOES_ON,
  context: ENDS,
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
  if (kind !== undefined) return NEXT_OF_KIND[kind];
  return OF_UPSTREAM.has(error.reason) ? REPEATS : ENDS;
}

/** What an attempt that its client ended says: only that nothing was visible for so long. */
export interface Left {
  readonly waitedMs: number;
  readonly isVisible: boolean;
}

/** Tells the target's health what an attempt says of it. `left` where its client, or its deadline, ended it. */
export function teach(
  health: TargetHealth,
  evidence: Evidence,
  failure: AttemptFailure | undefined,
  left: Left | undefined,
): void {
  const { token, accountId } = evidence;
  if (failure === undefined) return health.succeed(token, accountId);
  const { error, status } = failure;
  const hasAnswered = status !== 0;
  if (left !== undefined) {
    if (!left.isVisible) health.abandoned(evidence, left.waitedMs, hasAnswered);
    return;
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

/** Why no target could be asked: what sets them aside for this account, and how soon one may be. */
export function nobody(targets: readonly Target[], nowMs: number, accountId: string): GatewayError {
  const causes = targets.map(({ health }) => health.causeFor(nowMs, accountId));
  if (targets.length === 0) return new GatewayError("ERROR_REASON_UPSTREAM_UNAVAILABLE");
  if (causes.every((cause) => cause === "no_funds")) {
    return new GatewayError("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: "its account has no funds" });
  }
  if (causes.every((cause) => cause === "credential" || cause === "no_funds" || cause === "access")) {
    return new GatewayError("ERROR_REASON_UPSTREAM_CREDENTIAL", { problem: "its credential was refused" });
  }
  const waitMs = Math.min(...targets.map(({ health }) => health.nextTryMs(nowMs, accountId)));
  const metadata = { retry_after_ms: String(Math.max(1, Math.ceil(waitMs))) };
  const isAtLimit = causes.some((cause) => cause === "rate_limited");
  return new GatewayError(
    isAtLimit ? "ERROR_REASON_UPSTREAM_RATE_LIMITED" : "ERROR_REASON_UPSTREAM_UNAVAILABLE",
    metadata,
  );
}
