/** UsageService: what requests used and cost. */
import type { GetRequestResponse, ReadRequestContentResponse, UsageServiceService } from "../../api/index.js";
import { type Act, eventOf } from "../../audit/act.js";
import { changeOf } from "../../audit/snapshot.js";
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { unknownRequest } from "../../ledger/corrections.js";
import { Adopter } from "../../records/adopter.js";
import { largestOf } from "../../records/largest.js";
import { RequestWatch } from "../../records/request-watch.js";
import { UsageQuestions } from "../../records/usage-questions.js";
import { invalid, required, unknown } from "../../api/check.js";
import type { CoreParts } from "../call/core.js";
import { entryOf } from "./entry.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter, checkOwner, isOperator } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { listRequests } from "./request-list.js";
import { messageOfLedger, messageOfUnknown } from "./request-message.js";
import { watchRequests } from "./request-watch.js";
import { askedUsage, sumMessages } from "./usage-query.js";
import { summarizeUsage } from "./usage-summary.js";

/** Between two days that are compared with the ledger after the start, so that nothing else waits for it. */
const WARM_PAUSE_MS = 250;

type Parts = Pick<CoreParts, "store" | "nowMs" | "ledger" | "records" | "requests">;

export function usageService(parts: Parts): Handlers<typeof UsageServiceService> {
  const { store, nowMs, ledger, records, requests: feed } = parts;
  const watch = new RequestWatch(feed);
  const adopter = records && new Adopter({ records, requests: store.requests, nowMs });
  const questions = records && adopter && new UsageQuestions({ records, requests: store.requests, adopter, nowMs });
  if (adopter !== undefined) {
    ledger.lease.afterRecovery(() => adopter.adoptRecovered());
    records?.afterLoss((sinceMs) => adopter.adoptLost(sinceMs));
  }
  // What goes wrong is told to whoever asks.
  questions?.warm(WARM_PAUSE_MS).catch(() => undefined);
  return {
    getRequest: ({ id }, { caller }) => getRequest(required("id", id), caller, parts),
    async queryUsage(request, { caller }) {
      // Whose account it is comes first: nobody learns anything of another one's.
      const { dimensions, filter, valuesMax } = askedUsage(request, caller, nowMs());
      if (questions === undefined) throw noRecords();
      const groups = await questions.ask(dimensions, filter);
      const told = valuesMax === 0 ? groups : await largestOf(groups, dimensions, valuesMax);
      return { sums: sumMessages(told, caller) };
    },
    async eraseEndUser({ endUser, accountId }, { act }) {
      const erased = required("end_user", endUser);
      if (records === undefined) throw noRecords();
      const { requestCount, contentCount } = await records.erase(accountId || undefined, erased);
      // The log is kept for good, so that it tells how much was erased and not of whom.
      const told = {
        result: requestCount + contentCount === 0 ? "unchanged" : "done",
        ...changeOf({ after: { requestCount, contentCount } }),
      } as const;
      await store.audit.append(eventOf(act, { resource: `usage/${accountId}`, accountId, ...told }));
      return { requestCount: BigInt(requestCount), contentCount: BigInt(contentCount) };
    },
    readRequestContent: ({ id }, { act }) => readContent(required("id", id), act, parts),
    async refundRequest({ id, amountNanos, refundId, reason }, { caller, act }) {
      // To the ledger zero is all that is left; nobody who says zero means that.
      if (amountNanos === 0n) throw invalid("amount_nanos", "must be above 0, or left out for all that is left");
      const { holdId = id } = (await store.requests.get(required("id", id))) ?? {};
      const asked = { requestId: holdId, amountNanos: amountNanos ?? 0n, refundId, reason };
      const {
        amountNanos: refunded,
        availableNanos,
        repeated,
      } = await ledger.corrections.refund({
        ...asked,
        actor: caller.keyId,
        act,
      });
      return { amountNanos: refunded, availableNanos, repeatedRefund: repeated };
    },
    async listRequests(request, { caller }) {
      if (records !== undefined && adopter !== undefined) {
        const { requests } = store;
        const adopt = (): void => adopter.adoptSoon();
        return listRequests(request, caller, { requests, records, archivedUntil: () => ledger.archivedUntil(), adopt });
      }
      const page = pageOf(request);
      const { rows, nextPageToken } = await store.requests.list(accountFilter(caller, request.accountId), page);
      const shown = rows.map((row) => messageOfLedger(row, isOperator(caller), undefined));
      return { requests: shown, nextPageToken };
    },
    async watchRequests(request, call, sink) {
      await watchRequests(request, call, sink, watch);
    },
    summarizeUsage: (request, { caller }) => summarizeUsage(request, caller, store.requests, nowMs()),
  };
}

async function getRequest(id: string, caller: Caller, { store, ledger, records }: Parts): Promise<GetRequestResponse> {
  const isForOperator = isOperator(caller);
  const [receipt, record] = await Promise.all([
    store.requests.receipt(id),
    // What was paid is told also where records cannot be read.
    records?.find(id, isForOperator ? undefined : caller.accountId).catch(() => undefined),
  ]);
  if (receipt !== undefined) {
    checkOwner(caller, receipt.request.accountId, "request", id);
    const request = messageOfLedger(receipt.request, isForOperator, record);
    return { request, entries: receipt.entries.map(entryOf), archivedBefore: undefined };
  }
  const archivedMs = (await ledger.archivedUntil()) ?? 0;
  // Whose it was is not known any more.
  if (record === undefined) throw unknownRequest(id, isForOperator ? archivedMs : 0);
  checkOwner(caller, record.account, "request", id);
  const archivedBefore = record.createTimeMs < archivedMs ? new Date(archivedMs) : undefined;
  return { request: messageOfUnknown(record, archivedMs), entries: [], archivedBefore };
}

async function readContent(
  id: string,
  act: Act,
  { records, store }: Pick<Parts, "records" | "store">,
): Promise<ReadRequestContentResponse> {
  if (records === undefined) throw noRecords();
  const found = await records.content(id);
  if (found === undefined) throw unknown("content", id);
  const { accountId, endTimeMs, format, request, requestCut, answer, answerCut } = found;
  // Nobody sees it before it is written who did.
  await store.audit.append(eventOf(act, { resource: `requests/${id}`, accountId }));
  const said = { request, requestCut, answer, answerCut };
  return { content: { requestId: id, accountId, endTime: new Date(endTimeMs), format, ...said } };
}

function noRecords(): GatewayError {
  return new GatewayError("ERROR_REASON_OVERLOADED", { problem: "request records are turned off" });
}
