/** WatchRequests: requests as they end, filtered as lists of them are. */
import type { CancelSignal } from "../api/cancellation.js";
import type { Sink } from "../api/channel.js";
import { invalid } from "../api/check.js";
import {
  type RequestRecord,
  RequestState,
  type WatchRequestsRequest,
  type WatchRequestsResponse,
} from "../api/index.js";
import type { Caller } from "../keys/caller.js";
import type { RecordRow } from "../records/columns.js";
import type { RequestWatch, WatchedState } from "../records/request-watch.js";
import { watchedState } from "../records/request-watch.js";
import { accountFilter, isOperator } from "./ownership.js";
import { ALL_MS, filterOf } from "./request-filter.js";
import { messageOfRecord } from "./request-message.js";
import { steadily } from "./steady-sink.js";

const WATCHED: Readonly<Partial<Record<RequestState, WatchedState>>> = {
  [RequestState.REQUEST_STATE_SETTLED]: "settled",
  [RequestState.REQUEST_STATE_VOIDED]: "voided",
  [RequestState.REQUEST_STATE_UNCHARGED]: "uncharged",
};
const STATE_OF: Readonly<Record<WatchedState, RequestState>> = {
  settled: RequestState.REQUEST_STATE_SETTLED,
  voided: RequestState.REQUEST_STATE_VOIDED,
  uncharged: RequestState.REQUEST_STATE_UNCHARGED,
};

export async function watchRequests(
  asked: WatchRequestsRequest,
  { caller, signal }: { readonly caller: Caller; readonly signal: CancelSignal },
  sink: Sink<WatchRequestsResponse>,
  watch: RequestWatch,
): Promise<void> {
  const account = accountFilter(caller, asked.accountId);
  const state = WATCHED[asked.state];
  if (state === undefined && asked.state !== RequestState.REQUEST_STATE_UNSPECIFIED)
    throw invalid("state", "must be settled, voided or uncharged: only requests that ended are told");
  const filter = { ...filterOf(asked, account, { fromMs: 0, toMs: ALL_MS }), state: undefined };
  const seesCosts = isOperator(caller);
  sink.head({});
  const push = steadily(sink, signal);
  await watch.watch(filter, state, signal, (rows, missedCount) =>
    push({ requests: rows.map((row) => messageOfWatched(row, seesCosts)), missedCount: BigInt(missedCount) }),
  );
}

function messageOfWatched(row: RecordRow, forOperator: boolean): RequestRecord {
  return { ...messageOfRecord(row, forOperator), state: STATE_OF[watchedState(row)] };
}
