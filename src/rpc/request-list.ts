/** Lists of requests: from their records, with what the ledger says of those that money was set aside for. */
import { z } from "zod";
import { type ListRequestsRequest, type RequestRecord, RequestState } from "../api/index.js";
import { FLAG, type RecordRow } from "../records/columns.js";
import type { ListCursor } from "../records/engine.js";
import type { RecordFilter, RecordState } from "../records/filter.js";
import type { Records } from "../records/records.js";
import type { Caller } from "../keys/caller.js";
import type { RequestRow, RequestStore } from "../store/store.js";
import { invalid } from "./check.js";
import { accountFilter, isOperator } from "./ownership.js";
import { pageOf } from "./page.js";
import { messageOfLedger, messageOfRecord } from "./request-message.js";

const ALL_MS = Number.MAX_SAFE_INTEGER;
const CURSOR = z.tuple([z.literal("record"), z.number(), z.string()]);
const RECORD_STATES: Readonly<Partial<Record<RequestState, RecordState>>> = {
  [RequestState.REQUEST_STATE_UNCHARGED]: "refused",
};

interface Parts {
  readonly requests: RequestStore;
  readonly records: Records;
}

interface Listed {
  readonly requests: RequestRecord[];
  readonly nextPageToken: string;
}

/** A page of requests, the newest first. */
export async function listRequests(asked: ListRequestsRequest, caller: Caller, parts: Parts): Promise<Listed> {
  const account = accountFilter(caller, asked.accountId);
  const { size, token } = pageOf(asked);
  if (asked.state === RequestState.REQUEST_STATE_HELD) {
    const running = await runningOf(account, size, parts);
    return { requests: running.map((row) => messageOfLedger(row, isOperator(caller), undefined)), nextPageToken: "" };
  }
  const filter = filterOf(asked, account);
  const after = cursorOf(token);
  const isPlain = after === undefined && isUnfiltered(asked);
  const running = isPlain ? await runningOf(account, size, parts) : [];
  const found = await matching(filter, asked.state, size + 1, after, parts);
  const requests = running.map((row) => messageOfLedger(row, isOperator(caller), undefined));
  const seen = new Set(found.map(({ record }) => record.id));
  const shown = requests.filter(({ id }) => !seen.has(id)).slice(0, size);
  const rest = found.slice(0, size - shown.length);
  const messages = rest.map(({ record, row }) =>
    row === undefined ? messageOfRecord(record) : messageOfLedger(row, isOperator(caller), record),
  );
  const last = rest.at(-1)?.record;
  const isLast = rest.length === found.length;
  const nextPageToken = isLast ? "" : tokenOf(last ?? { endTimeMs: ALL_MS, id: "~" });
  return { requests: [...shown, ...messages], nextPageToken };
}

interface Found {
  readonly record: RecordRow;
  readonly row: RequestRow | undefined;
}

/** Records with what the ledger says of them; a state of the ledger's is only known there. */
async function matching(
  filter: RecordFilter,
  state: RequestState,
  count: number,
  after: ListCursor | undefined,
  { requests, records }: Parts,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (let cursor = after; found.length < count;) {
    const some = await records.list(filter, count, cursor);
    const rows = await Promise.all(
      some.map((record) => ((record.flags & FLAG.answered) === 0 ? undefined : requests.get(record.id))),
    );
    for (const [place, record] of some.entries()) {
      const row = rows[place];
      if (state === 0 || state === RequestState.REQUEST_STATE_UNCHARGED || stateOf(row) === state)
        found.push({ record, row });
    }
    const last = some.at(-1);
    if (some.length < count || last === undefined) break;
    cursor = { timeMs: last.endTimeMs, id: last.id };
  }
  return found.slice(0, count);
}

function stateOf(row: RequestRow | undefined): RequestState {
  switch (row?.state) {
    case undefined:
      return RequestState.REQUEST_STATE_UNCHARGED;
    case "settled":
      return RequestState.REQUEST_STATE_SETTLED;
    case "voided":
      return RequestState.REQUEST_STATE_VOIDED;
    case "expired":
      return RequestState.REQUEST_STATE_EXPIRED;
    case "held":
      return RequestState.REQUEST_STATE_HELD;
  }
}

/** Those among the newest that still run. */
async function runningOf(account: string | undefined, size: number, { requests }: Parts): Promise<RequestRow[]> {
  const { rows } = await requests.list(account, { size: 1_000, token: "" });
  return rows.filter(({ state }) => state === "held").slice(0, size);
}

function filterOf(asked: ListRequestsRequest, account: string | undefined): RecordFilter {
  const names: Record<string, string> = {};
  const named = {
    account: account ?? "",
    key: asked.keyId,
    model: asked.model,
    upstream: asked.upstream,
    reason: asked.reason,
    endUser: asked.endUser,
  };
  for (const [name, value] of Object.entries(named)) if (value !== "") names[name] = value;
  const number = (value: bigint | undefined): number | undefined => (value === undefined ? undefined : Number(value));
  return {
    ...timesOf(asked),
    names,
    tag: asked.tag || undefined,
    state: RECORD_STATES[asked.state],
    status: asked.httpStatus || undefined,
    costMinNanos: number(asked.minCostNanos),
    costMaxNanos: number(asked.maxCostNanos),
    totalMinMs: asked.minTotalMs,
    totalMaxMs: asked.maxTotalMs,
    id: asked.query || undefined,
  };
}

/** A time that ends before `end_time`, as milliseconds with both ends in it. */
export function timesOf({ startTime, endTime }: { startTime?: Date | undefined; endTime?: Date | undefined }): {
  readonly fromMs: number;
  readonly toMs: number;
} {
  const times = { fromMs: startTime?.getTime() ?? 0, toMs: endTime === undefined ? ALL_MS : endTime.getTime() - 1 };
  if (times.fromMs > times.toMs) throw invalid("start_time", "must come before end_time");
  return times;
}

function isUnfiltered({
  accountId: _account,
  pageSize: _size,
  pageToken: _token,
  ...rest
}: ListRequestsRequest): boolean {
  return Object.values(rest).every((value) => value === undefined || value === "" || value === 0);
}

function tokenOf({ endTimeMs, id }: Pick<RecordRow, "endTimeMs" | "id">): string {
  return Buffer.from(JSON.stringify(["record", endTimeMs, id])).toString("base64url");
}

function cursorOf(token: string): ListCursor | undefined {
  if (token === "") return undefined;
  const parsed = CURSOR.safeParse(jsonIn(token));
  if (!parsed.success) throw invalid("page_token", "is not the next_page_token of an earlier response");
  const [, timeMs, id] = parsed.data;
  return { timeMs, id };
}

function jsonIn(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    return undefined;
  }
}
