/** Lists of requests: from their records, with what the ledger says of those that money was set aside for. */
import { type ListRequestsRequest, type RequestRecord, RequestState } from "../api/index.js";
import { FLAG, type RecordRow } from "../records/columns.js";
import type { ListCursor } from "../records/engine.js";
import type { RecordFilter } from "../records/filter.js";
import type { Records } from "../records/records.js";
import type { Caller } from "../keys/caller.js";
import { decodeToken, encodeToken, TIME_CURSOR } from "../store/page.js";
import type { RequestRow, RequestStore } from "../store/store.js";
import { accountFilter, isOperator } from "./ownership.js";
import { pageOf } from "./page.js";
import { ALL_MS, filterOf, timesOf } from "./request-filter.js";
import { messageOfLedger, messageOfRecord, STATES } from "./request-message.js";

/** Among so many of the ledger's newest are those that run, and those that have no record yet. */
const NEWEST_ROWS = 1_000;
/** The name of the list in its tokens: the ledger has another one of its requests. */
const LIST = "records of requests";

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
    const running = (await newestOf(account, parts)).filter(isRunning).slice(0, size);
    return { requests: running.map((row) => messageOfLedger(row, isOperator(caller), undefined)), nextPageToken: "" };
  }
  const filter = filterOf(asked, account, timesOf(asked));
  const after = decodeToken(LIST, token, TIME_CURSOR);
  const recorded = await matching(filter, asked.state, size + 1, after, parts);
  const newest = isUnfiltered(asked) ? await newestOf(account, parts) : [];
  const seen = new Set(recorded.map(({ id }) => id));
  const unseen = newest.filter(({ id }) => !seen.has(id));
  const running = after === undefined ? unseen.filter(isRunning).slice(0, size) : [];
  const unrecorded = await unrecordedOf(
    unseen,
    after,
    recorded.length > size ? recorded.at(-1) : undefined,
    size,
    parts,
  );
  const found = unrecorded.length === 0 ? recorded : [...recorded, ...unrecorded].sort(byEnd);
  const rest = found.slice(0, size - running.length);
  const requests = running.map((row) => messageOfLedger(row, isOperator(caller), undefined));
  for (const { row, record } of rest) {
    if (row !== undefined) requests.push(messageOfLedger(row, isOperator(caller), record));
    else if (record !== undefined) requests.push(messageOfRecord(record));
  }
  const last = rest.at(-1) ?? { endTimeMs: ALL_MS, id: "~" };
  const nextPageToken = rest.length === found.length ? "" : encodeToken(LIST, { timeMs: last.endTimeMs, id: last.id });
  return { requests, nextPageToken };
}

/** A request that has ended, with what is known of it. */
interface Found {
  readonly id: string;
  readonly endTimeMs: number;
  readonly record: RecordRow | undefined;
  readonly row: RequestRow | undefined;
}

/** The newer one first. */
function byEnd(one: Pick<Found, "id" | "endTimeMs">, other: Pick<Found, "id" | "endTimeMs">): number {
  return other.endTimeMs - one.endTimeMs || (one.id < other.id ? 1 : -1);
}

/**
 * Those of a page that the ledger charged and that have no record, as a crash or another node's last moment leaves
 * them: no list misses money that the balance shows. Those older than `last` stand on a later page.
 */
async function unrecordedOf(
  rows: readonly RequestRow[],
  after: ListCursor | undefined,
  last: Found | undefined,
  size: number,
  { records }: Parts,
): Promise<readonly Found[]> {
  const begin = after === undefined ? undefined : { id: after.id, endTimeMs: after.timeMs };
  const ended = rows
    .flatMap((row): Found[] =>
      row.endTimeMs === null ? [] : [{ id: row.id, endTimeMs: row.endTimeMs, row, record: undefined }],
    )
    .filter((one) => begin === undefined || byEnd(begin, one) < 0)
    .filter((one) => last === undefined || byEnd(one, last) < 0)
    .sort(byEnd)
    .slice(0, size + 1);
  // A record has a time of its own, and may stand on the page before or after for it.
  const known = await Promise.all(ended.map(({ id }) => records.find(id)));
  return ended.filter((_, place) => known[place] === undefined);
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
        found.push({ id: record.id, endTimeMs: record.endTimeMs, record, row });
    }
    const last = some.at(-1);
    if (some.length < count || last === undefined) break;
    cursor = { timeMs: last.endTimeMs, id: last.id };
  }
  return found.slice(0, count);
}

function stateOf(row: RequestRow | undefined): RequestState {
  return row === undefined ? RequestState.REQUEST_STATE_UNCHARGED : STATES[row.state];
}

async function newestOf(account: string | undefined, { requests }: Parts): Promise<readonly RequestRow[]> {
  return (await requests.list(account, { size: NEWEST_ROWS, token: "" })).rows;
}

function isRunning({ state }: RequestRow): boolean {
  return state === "held";
}

function isUnfiltered({
  accountId: _account,
  pageSize: _size,
  pageToken: _token,
  ...rest
}: ListRequestsRequest): boolean {
  return Object.values(rest).every((value) => value === undefined || value === "" || value === 0);
}
