/** A request as the protocol shows it: what the ledger knows of it, what its record says, or both. */
import { boundedTo } from "../../base/bounded-to.js";
import { metersIn } from "../../api/meters.js";
import { NO_USAGE, usageFrom } from "../../api/usage.js";
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Affinity } from "../../api/affinity.js";
import { parametersIn } from "../../api/applied-parameters.js";
import type { CacheMarker } from "../../api/cache-marks.js";
import {
  AffinityState,
  CacheMarks,
  ErrorReason,
  Price,
  type RequestDetail,
  type RequestRecord,
  RequestState,
  SessionSource,
  UsageSource,
} from "../../api/index.js";
import { messageIn } from "../../api/descriptors.js";
import { reasonOfWord } from "../../base/errors.js";
import { affinityIn, cacheMarksIn, FLAG, type RecordRow, timeIn } from "../../records/columns.js";
import { isSettled } from "../../records/filter.js";
import type { RequestRow } from "../../store/store.js";
import { withOwnMoney } from "./money-messages.js";
import { attemptsOf, servedOf } from "./attempt.js";
import { explanationOf } from "./request-explanation.js";

/** The ledger's states as the protocol has them. */
export const STATES: Readonly<Record<RequestRow["state"], RequestState>> = {
  held: RequestState.REQUEST_STATE_HELD,
  settled: RequestState.REQUEST_STATE_SETTLED,
  voided: RequestState.REQUEST_STATE_VOIDED,
  expired: RequestState.REQUEST_STATE_EXPIRED,
};

const AFFINITY: Readonly<Record<Affinity["state"], AffinityState>> = {
  kept: AffinityState.AFFINITY_STATE_KEPT,
  new: AffinityState.AFFINITY_STATE_NEW,
  moved: AffinityState.AFFINITY_STATE_MOVED,
};
const SOURCES: Readonly<Record<Affinity["source"], SessionSource>> = {
  header: SessionSource.SESSION_SOURCE_HEADER,
  session_id: SessionSource.SESSION_SOURCE_SESSION_ID,
  prompt_cache_key: SessionSource.SESSION_SOURCE_PROMPT_CACHE_KEY,
  metadata: SessionSource.SESSION_SOURCE_METADATA,
  content: SessionSource.SESSION_SOURCE_CONTENT,
};
const MARKS: Readonly<Record<CacheMarker, CacheMarks>> = {
  none: CacheMarks.CACHE_MARKS_NONE,
  client: CacheMarks.CACHE_MARKS_CLIENT,
  auto: CacheMarks.CACHE_MARKS_AUTO,
};

/** What the operator pays, and what is left for it, is nobody else's business. */
export function messageOfLedger(row: RequestRow, forOperator: boolean, record: RecordRow | undefined): RequestRecord {
  const operatorCostNanos = forOperator ? row.operatorCostNanos : undefined;
  const isOver = row.endTimeMs !== null;
  const { price, version } = priceOf(row.price);
  return {
    operatorCostNanos,
    marginNanos: operatorCostNanos === undefined || !isOver ? undefined : row.chargedNanos - operatorCostNanos,
    id: row.id,
    accountId: row.accountId,
    keyId: row.keyId,
    model: row.model,
    upstream: row.upstream,
    state: STATES[row.state],
    holdNanos: row.holdNanos,
    costNanos: row.costNanos,
    usage: row.usage,
    usageSource: row.usageSource,
    attempts: row.attempts,
    price,
    priceVersion: version,
    chargedNanos: row.chargedNanos,
    overageNanos: row.overageNanos,
    refundedNanos: row.refundedNanos,
    attemptLog: attemptsOf(row, forOperator),
    served: servedOf(row),
    createTime: new Date(row.createTimeMs),
    endTime: row.endTimeMs === null ? undefined : new Date(row.endTimeMs),
    detail: record && detailOf(record),
  };
}

/**
 * What is told of a request that the ledger does not know. What was admitted before `archivedMs` is in an archive, and
 * was what its record says; else a crash took back what it was admitted on, and it costs nothing.
 */
export function messageOfUnknown(row: RecordRow, archivedMs: number): RequestRecord {
  const message = messageOfRecord(row);
  if (row.createTimeMs < archivedMs) return { ...message, state: stateOfRecord(row) };
  const nothing = { usage: NO_USAGE, usageSource: UsageSource.USAGE_SOURCE_NONE };
  return { ...message, ...nothing, costNanos: 0n, chargedNanos: 0n, overageNanos: 0n };
}

/** As the ledger ends it. */
export function stateOfRecord({ flags, usageSource }: RecordRow): RequestState {
  if ((flags & FLAG.answered) === 0) return RequestState.REQUEST_STATE_UNCHARGED;
  return isSettled(usageSource) ? RequestState.REQUEST_STATE_SETTLED : RequestState.REQUEST_STATE_VOIDED;
}

/** What its record says of one that the ledger does not know, or was not asked for. */
export function messageOfRecord(row: RecordRow, forOperator = false): RequestRecord {
  const isCostKnown = forOperator && (row.flags & FLAG.costKnown) !== 0;
  const [costNanos, chargedNanos] = [BigInt(row.costNanos), BigInt(row.chargedNanos)];
  const operatorCostNanos = isCostKnown ? BigInt(row.operatorCostNanos) : undefined;
  return {
    operatorCostNanos,
    marginNanos: operatorCostNanos === undefined ? undefined : chargedNanos - operatorCostNanos,
    id: row.id,
    accountId: row.account,
    keyId: row.key,
    model: row.model,
    upstream: row.upstream,
    state: RequestState.REQUEST_STATE_UNCHARGED,
    holdNanos: 0n,
    costNanos,
    usage: usageFrom((field) => BigInt(row[field]), metersIn(row.meters)),
    usageSource: row.usageSource || UsageSource.USAGE_SOURCE_NONE,
    attempts: row.attempts,
    price: undefined,
    priceVersion: "",
    chargedNanos,
    overageNanos: costNanos - chargedNanos,
    refundedNanos: 0n,
    attemptLog: [],
    served: undefined,
    createTime: new Date(row.endTimeMs - Math.round(timeIn(row.total) ?? 0)),
    endTime: new Date(row.endTimeMs),
    detail: detailOf(row),
  };
}

function detailOf(row: RecordRow): RequestDetail | undefined {
  // Of one that a crash lost all that is known is the ledger's.
  if ((row.flags & FLAG.adopted) !== 0) return undefined;
  const reason = reasonOfWord(row.reason);
  const affinity = affinityIn(row.flags);
  const marker = cacheMarksIn(row.flags);
  const parameters = parametersIn(row.parameters);
  return {
    errorReason: reason === undefined ? undefined : ErrorReason[reason],
    httpStatus: row.status,
    facts: row.detail,
    path: row.path,
    format: row.format,
    streamed: (row.flags & FLAG.streamed) !== 0,
    replayed: (row.flags & FLAG.replayed) !== 0,
    upstreamModel: row.upstreamModel,
    queueMs: timeIn(row.queue),
    firstTokenMs: timeIn(row.firstToken),
    totalMs: timeIn(row.total) ?? 0,
    upstreamMs: timeIn(row.upstreamTime),
    clampedToTokens: row.clampedTo === 0 ? undefined : BigInt(row.clampedTo),
    endUser: row.endUser,
    tags: row.tags === "" ? [] : row.tags.split("\n"),
    session: row.session,
    client: row.client,
    clientRequestId: row.clientRequestId,
    address: row.address,
    askedModel: row.askedModel,
    affinity: affinity && AFFINITY[affinity.state],
    affinitySource: affinity && SOURCES[affinity.source],
    parameters: parameters && {
      defaulted: [...parameters.defaulted],
      set: [...parameters.set],
      dropped: [...parameters.dropped],
    },
    cacheMarks: marker && MARKS[marker],
    cacheSavedNanos: row.cacheSavedNanos === 0 ? undefined : BigInt(row.cacheSavedNanos),
    cacheSaved: undefined,
    ...explanationOf(row),
  };
}

interface KnownPrice {
  readonly price: Price;
  readonly version: string;
}

/** Most requests of a page have one of a few prices. */
const prices = new LRUCache<string, KnownPrice>(boundedTo(1_000));

/** Prices are pinned as bytes with one spelling, so equal prices have equal names. */
function priceOf(bytes: Uint8Array): KnownPrice {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const known = prices.get(text);
  if (known !== undefined) return known;
  const desc = messageIn("tollgate/v1/usage.proto", "tollgate.v1.Price");
  const price = withOwnMoney(desc, Price.decode(bytes));
  const found = { price, version: hash("sha256", bytes).slice(0, 12) };
  prices.set(text, found);
  return found;
}
