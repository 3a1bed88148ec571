/** Requests that the ledger charged and no record tells of, as a crash leaves them, get the record that can be made. */
import type { Page, PageRequest, RequestRow } from "../store/store.js";
import { ADOPTED } from "./engine.js";
import { metersText } from "../api/meters.js";
import { FLAG, recordedEnd, type RecordRow, REQUEST_MS_MAX, storedTime, UNKNOWN } from "./columns.js";

/** One that ended just now may still be on its way here, on any node. */
export const SETTLED_MS = 5_000;
const PAGE_ROWS = 200;
/** A crash loses about a second of requests; whatever is missing beyond so many pages stays in the sums alone. */
const PAGES_MAX = 250;

export interface AdoptionParts {
  readonly requests: { list(accountId: string | undefined, page: PageRequest): Promise<Page<RequestRow>> };
  readonly records: { adopt(rows: readonly RecordRow[], fromMs: number, toMs: number): Promise<number> };
}

/** Looks through the ledger for those that ran in this time, the newest first. Returns how many had no record. */
export async function adoptRequests(
  fromMs: number,
  toMs: number,
  nowMs: number,
  { requests, records }: AdoptionParts,
): Promise<number> {
  const lastMs = nowMs - SETTLED_MS;
  let adopted = 0;
  for (let token = "", left = PAGES_MAX; left > 0; left -= 1) {
    const page = await requests.list(undefined, { size: PAGE_ROWS, token });
    const ended = page.rows.flatMap((row) =>
      row.endTimeMs !== null && row.endTimeMs >= fromMs && row.createTimeMs <= toMs && row.endTimeMs <= lastMs
        ? [recordOf(row, row.endTimeMs)]
        : [],
    );
    if (ended.length > 0) {
      const times = ended.map(({ endTimeMs }) => endTimeMs);
      adopted += await records.adopt(ended, Math.min(...times), Math.max(...times));
    }
    token = page.nextPageToken;
    const oldest = page.rows.at(-1);
    if (token === "" || oldest === undefined || oldest.createTimeMs < fromMs - REQUEST_MS_MAX) break;
  }
  return adopted;
}

/** What only the client said, or only the moment showed, nobody knows any more. */
function recordOf(row: RequestRow, endTimeMs: number): RecordRow {
  const { usage } = row;
  return {
    id: row.id,
    endTimeMs: recordedEnd(row.createTimeMs, endTimeMs),
    createTimeMs: row.createTimeMs,
    flags: ADOPTED | (row.operatorCostNanos === undefined ? 0 : FLAG.costKnown),
    status: 0,
    attempts: row.attempts,
    usageSource: row.usageSource,
    total: storedTime(endTimeMs - row.createTimeMs),
    queue: 0,
    firstToken: 0,
    upstreamTime: 0,
    costNanos: Number(row.costNanos),
    chargedNanos: Number(row.chargedNanos),
    operatorCostNanos: Number(row.operatorCostNanos ?? 0n),
    clampedTo: 0,
    cacheSavedNanos: 0,
    inputTokens: Number(usage.inputTokens),
    cacheReadTokens: Number(usage.cacheReadTokens),
    cacheWriteTokens: Number(usage.cacheWriteTokens),
    cacheWrite1hTokens: Number(usage.cacheWrite1hTokens),
    outputTokens: Number(usage.outputTokens),
    reasoningTokens: Number(usage.reasoningTokens),
    imageTokens: Number(usage.imageTokens),
    audioInputTokens: Number(usage.audioInputTokens),
    audioOutputTokens: Number(usage.audioOutputTokens),
    account: row.accountId,
    key: row.keyId,
    model: row.model,
    upstream: row.upstream,
    upstreamModel: "",
    askedModel: "",
    reason: UNKNOWN,
    path: "",
    format: "",
    endUser: UNKNOWN,
    tags: UNKNOWN,
    meters: metersText(usage.meters),
    parameters: "",
    node: "",
    client: "",
    address: "",
    session: "",
    clientRequestId: "",
    detail: "",
  };
}
