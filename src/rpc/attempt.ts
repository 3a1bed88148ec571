/** The attempts of a request as a receipt shows them. */
import type { Attempt } from "../api/index.js";
import { decodeAttempts } from "../ledger/attempt-log.js";
import type { RequestRow } from "../store/store.js";

type Tried = Pick<RequestRow, "state" | "upstream" | "attempts" | "attemptLog">;

/** HTTP's status of every answer. */
const ANSWERED = 200;
const NOTHING_KNOWN = { reason: "", upstreamModel: "", startMs: undefined, durationMs: undefined } as const;

/** As much of each attempt as is known: all of it, or which upstream the last one asked. */
export function attemptsOf(row: Tried): Attempt[] {
  const { state, upstream, attempts, attemptLog } = row;
  if (attempts === 0) return [];
  const last = { ...NOTHING_KNOWN, number: attempts, upstream, httpStatus: undefined, firstBatchMs: undefined };
  if (state === "held") return [{ ...last, end: "running" }];
  if (attemptLog === "") return [{ ...last, end: "answered", httpStatus: ANSWERED }];
  const tried = attemptLog === null ? undefined : decodeAttempts(attemptLog);
  if (tried === undefined) return [{ ...last, end: "unknown" }];
  return tried.map(({ upstream: asked, model, reason, status, startMs, durationMs, firstBatchMs }, index) => ({
    number: attempts - tried.length + index + 1,
    upstream: asked,
    end: reason === "" ? "answered" : "failed",
    reason,
    httpStatus: status === 0 ? undefined : status,
    upstreamModel: model,
    startMs: BigInt(startMs),
    durationMs: BigInt(durationMs),
    firstBatchMs: firstBatchMs === null ? undefined : BigInt(firstBatchMs),
  }));
}
