/** The attempts of a request as a receipt shows them. */
import { type Attempt, AttemptEnd, ErrorReason, type ServedAs } from "../../api/index.js";
import { isReasonName } from "../../base/errors.js";
import { decodeAttempts, decodeServed } from "../../ledger/attempt-log.js";
import type { RequestRow } from "../../store/store.js";

type Tried = Pick<RequestRow, "state" | "upstream" | "model" | "attempts" | "attemptLog">;

/** How the answer was served; undefined where nothing answered, or where that was not kept. */
export function servedOf(row: Tried): ServedAs | undefined {
  const served = row.attemptLog === null ? undefined : decodeServed(row.attemptLog, row);
  return served && { ...served, toolUses: [...served.toolUses] };
}

/**
 * All that is known of each attempt, or of the last one where the request left no log of them. Failure messages
 * are for operators: they may tell of their accounts at upstreams.
 */
export function attemptsOf(row: Tried, forOperator: boolean): Attempt[] {
  const { state, upstream, attempts, attemptLog } = row;
  const tried = attemptLog === null ? undefined : decodeAttempts(attemptLog, row);
  if (tried !== undefined) {
    return tried.map((attempt, index) => ({
      number: attempts - tried.length + index + 1,
      upstream: attempt.upstream,
      upstreamModel: attempt.model,
      end: attempt.reason === "" ? AttemptEnd.ATTEMPT_END_ANSWERED : AttemptEnd.ATTEMPT_END_FAILED,
      errorReason: reasonOf(attempt.reason),
      httpStatus: attempt.status === 0 ? undefined : attempt.status,
      startMs: BigInt(attempt.startMs),
      durationMs: BigInt(attempt.durationMs),
      firstBatchMs: attempt.firstBatchMs === null ? undefined : BigInt(attempt.firstBatchMs),
      failureMessage: forOperator ? attempt.failureMessage : "",
    }));
  }
  if (attempts === 0) return [];
  return [
    {
      number: attempts,
      upstream,
      upstreamModel: "",
      end: state === "held" ? AttemptEnd.ATTEMPT_END_RUNNING : AttemptEnd.ATTEMPT_END_UNKNOWN,
      errorReason: undefined,
      httpStatus: undefined,
      startMs: undefined,
      durationMs: undefined,
      firstBatchMs: undefined,
      failureMessage: "",
    },
  ];
}

/** A name that the log keeps as a reason; undefined where it is empty, or of another release. */
function reasonOf(name: string): ErrorReason | undefined {
  return isReasonName(name) ? ErrorReason[name] : undefined;
}
