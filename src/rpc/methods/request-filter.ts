/** What a list of requests, or a watch of them, is narrowed to. */
import { type ListRequestsRequest, RequestState, type WatchRequestsRequest } from "../../api/index.js";
import { invalid } from "../../api/check.js";
import type { Charge, RecordFilter } from "../../records/filter.js";

/** Later than any record. */
export const ALL_MS = Number.MAX_SAFE_INTEGER;
const CHARGES: Readonly<Partial<Record<RequestState, Charge>>> = {
  [RequestState.REQUEST_STATE_SETTLED]: "settled",
  [RequestState.REQUEST_STATE_VOIDED]: "voided",
  [RequestState.REQUEST_STATE_EXPIRED]: "expired",
  [RequestState.REQUEST_STATE_UNCHARGED]: "uncharged",
};

type Named = Pick<ListRequestsRequest, "keyId" | "model" | "upstream" | "reason" | "endUser">;

/** Both ends are in it. */
export interface Times {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a question about requests names, of what it may; `account` as the caller may see it. */
export function askedNames(
  { keyId: key, model, upstream, reason, endUser }: Named,
  account: string | undefined,
): RecordFilter["names"] {
  const named = { account: account ?? "", key, model, upstream, reason, endUser };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== ""));
}

/** `account` is the one that the caller may see; undefined is all of them. */
export function filterOf(
  asked: ListRequestsRequest | WatchRequestsRequest,
  account: string | undefined,
  times: Times,
): RecordFilter {
  const number = (value: bigint | undefined): number | undefined => (value === undefined ? undefined : Number(value));
  return {
    ...times,
    names: askedNames(asked, account),
    tag: asked.tag || undefined,
    charge: CHARGES[asked.state],
    isFailed: asked.failed || undefined,
    statusMin: asked.httpStatus || asked.minHttpStatus || undefined,
    statusMax: asked.httpStatus || asked.maxHttpStatus || undefined,
    costMinNanos: number(asked.minCostNanos),
    costMaxNanos: number(asked.maxCostNanos),
    totalMinMs: asked.minTotalMs,
    totalMaxMs: asked.maxTotalMs,
    id: asked.query || undefined,
  };
}

/**
 * A time that ends before `end_time`, as milliseconds with both ends in it. Without a `start_time` it begins with the
 * first of all, or as `beginsMs` says of its last millisecond. Throws PARAMETER_INVALID where it is empty.
 */
export function timesOf(
  { startTime, endTime }: { startTime?: Date | undefined; endTime?: Date | undefined },
  beginsMs: (lastMs: number) => number = () => 0,
): Times {
  const toMs = endTime === undefined ? ALL_MS : endTime.getTime() - 1;
  const fromMs = startTime?.getTime() ?? beginsMs(toMs);
  if (fromMs > toMs) throw invalid("start_time", "must come before end_time");
  return { fromMs, toMs };
}
