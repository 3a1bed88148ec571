/** Where a core keeps the records of requests: beside its ledger, or in the PostgreSQL that nodes share. */
import { setTimeout as sleep } from "node:timers/promises";
import { DAY_MS } from "../base/day.js";
import type { CallMetadata } from "../api/channel.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Tracing } from "../observe/tracing.js";
import { beginsRequest } from "../rpc/call/begins-request.js";
import { Records } from "../records/records.js";
import { type EndedRequest, RequestFeed } from "../records/request-record.js";
import type { OwnerLink } from "../owner/owner-link.js";
import type { Clocked } from "./core.js";
import { recordsOf } from "./owned-storage.js";
import type { Derived } from "./root-secrets.js";

const SERVICES = "/tollgate.v1.";
const INFERENCE = `${SERVICES}InferenceService/`;
/** A database that does not answer does not keep records from being told. */
const SETTLED_MS_MAX = 1_000;
/** What goes wrong is told so often at most. */
const TELL_MS = 10_000;

/** Rejects with an Error of one line where they cannot be opened. */
export async function openRecords(
  { environment, log, metrics, clock }: Clocked,
  { seals }: Pick<Derived, "seals">,
  tracing: Tracing | undefined,
  owner: OwnerLink | undefined,
  ledger: Pick<Ledger, "settled" | "lease">,
): Promise<{
  /** Who hears of requests as they end. */
  readonly requests: RequestFeed;
  readonly records: Records;
}> {
  const onListenerError = (err: unknown): void => log.error({ err }, "a listener to ended requests failed");
  const trace =
    tracing &&
    ((path: string, metadata: CallMetadata) =>
      beginsRequest(path) ? tracing.begin(path.slice(1), metadata) : undefined);
  const requests = new RequestFeed({ nowMs: clock.nowMs, onError: onListenerError, trace });
  requests.subscribe(({ failure }) => {
    if (failure !== undefined) metrics.refusals.add(failure.reasonWord, String(failure.http));
  });
  const { databaseUrl, dataDirectory, recordDays, refusalRecordDays, contentDays } = environment;
  let toldMs = -Infinity;
  const records = await Records.open({
    place: databaseUrl === undefined ? { directory: dataDirectory } : { url: databaseUrl },
    caller: owner && recordsOf(owner),
    nodeId: ledger.lease.nodeId,
    retention: { recordsMs: recordDays * DAY_MS, refusalsMs: refusalRecordDays * DAY_MS },
    content: { ...seals.content, keptMs: contentDays * DAY_MS },
    nowMs: clock.nowMs,
    settled: () => Promise.race([ledger.settled(), sleep(SETTLED_MS_MAX, undefined, { ref: false })]),
    onDropped: (count, cause) => metrics.recordsDropped.inc({ cause }, count),
    onLost: ({ count, chargedCount }) => log.error({ records: count, charged: chargedCount }, LOST),
    onRefusalsLeftOut: ({ account, count }) =>
      log.warn({ account, count }, "an account was refused too often to keep a record of each refusal"),
    onContentDropped: (count) => metrics.contentDropped.inc(count),
    onError: (err) => {
      if (performance.now() - toldMs < TELL_MS) return;
      toldMs = performance.now();
      log.error({ err }, "records of requests could not be stored or read; requests go on");
    },
  });
  requests.subscribe((request) => {
    if (!isLeftQuestion(request)) records.add(request);
  });
  return { requests, records };
}

const LOST =
  "records of requests could not be stored, and can be again: the ledger has the charged ones, which get a record with" +
  " what it knows; the others are gone";

/** Whoever leaves a page of the console before its answer came was refused nothing: that is no record. */
function isLeftQuestion({ failure, method }: EndedRequest): boolean {
  return failure?.reason === "ERROR_REASON_CANCELLED" && method.startsWith(SERVICES) && !method.startsWith(INFERENCE);
}
