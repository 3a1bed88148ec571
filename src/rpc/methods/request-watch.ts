/** WatchRequests: requests as they end, filtered as lists of them are. */
import type { CancelSignal } from "../../base/cancellation.js";
import type { Sink } from "../../api/channel.js";
import { invalid } from "../../api/check.js";
import {
  type RequestRecord,
  RequestState,
  type WatchRequestsRequest,
  type WatchRequestsResponse,
} from "../../api/index.js";
import type { Caller } from "../../keys/caller.js";
import type { RecordRow } from "../../records/columns.js";
import type { RequestWatch } from "../../records/request-watch.js";
import { accountFilter, isOperator } from "../call/account-scope.js";
import { ALL_MS, filterOf } from "./request-filter.js";
import { messageOfRecord, stateOfRecord } from "./request-message.js";
import { steadily } from "./steady-sink.js";

/** The states of those that are told. */
const ENDED: ReadonlySet<RequestState> = new Set([
  RequestState.REQUEST_STATE_SETTLED,
  RequestState.REQUEST_STATE_VOIDED,
  RequestState.REQUEST_STATE_UNCHARGED,
]);

export async function watchRequests(
  asked: WatchRequestsRequest,
  { caller, signal }: { readonly caller: Caller; readonly signal: CancelSignal },
  sink: Sink<WatchRequestsResponse>,
  watch: RequestWatch,
): Promise<void> {
  const account = accountFilter(caller, asked.accountId);
  if (asked.state !== RequestState.REQUEST_STATE_UNSPECIFIED && !ENDED.has(asked.state))
    throw invalid("state", "must be settled, voided or uncharged: only requests that ended are told");
  const filter = filterOf(asked, account, { fromMs: 0, toMs: ALL_MS });
  const seesCosts = isOperator(caller);
  sink.head({});
  const push = steadily(sink, signal);
  await watch.watch(filter, signal, (rows, missedCount) =>
    push({ requests: rows.map((row) => messageOfWatched(row, seesCosts)), missedCount: BigInt(missedCount) }),
  );
}

function messageOfWatched(row: RecordRow, forOperator: boolean): RequestRecord {
  return { ...messageOfRecord(row, forOperator), state: stateOfRecord(row) };
}
