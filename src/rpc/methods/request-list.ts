/** Lists of requests: from their records, with what the ledger says of those that money was set aside for. */
import type { DescMessage } from "@bufbuild/protobuf";
import { methodByPath } from "../../api/descriptors.js";
import { type ListRequestsRequest, type RequestRecord, RequestState, UsageServiceService } from "../../api/index.js";
import type { RecordRow } from "../../records/columns.js";
import type { ListCursor } from "../../records/engine.js";
import { mayBeHeld, type RecordFilter } from "../../records/filter.js";
import type { Records } from "../../records/records.js";
import { mapInTurns } from "../../base/event-loop/turns.js";
import type { Caller } from "../../keys/caller.js";
import { decodeToken, encodeToken, TIME_CURSOR } from "../../store/page.js";
import type { RequestRow, RequestStore } from "../../store/store.js";
import { accountFilter, isOperator } from "../call/account-scope.js";
import { withOwnMoney } from "./money-messages.js";
import { pageOf } from "./page.js";
import { ALL_MS, filterOf, timesOf } from "./request-filter.js";
import { messageOfLedger, messageOfUnknown, STATES } from "./request-message.js";

/** Among so many of the ledger's newest those without a record are looked for. */
const NEWEST_ROWS = 100;
/** What the ledger's rows of one answer may take of the event loop. */
const ROWS_AT_ONCE = 100;
/** The name of the list in its tokens: the ledger has another one of its requests. */
const LIST = "records of requests";

interface Parts {
  readonly requests: RequestStore;
  readonly records: Records;
  /** Before when transfers are archived; undefined where none are. */
  readonly archivedUntil: () => Promise<number | undefined>;
  /** Gives requests without a record one, soon. */
  readonly adopt: () => void;
}

interface Listed {
  readonly requests: RequestRecord[];
  readonly nextPageToken: string;
}

/** A page of requests, the newest first. */
export async function listRequests(asked: ListRequestsRequest, caller: Caller, parts: Parts): Promise<Listed> {
  const account = accountFilter(caller, asked.accountId);
  const { size, token } = pageOf(asked);
  const isAll = isOperator(caller);
  if (asked.state === RequestState.REQUEST_STATE_HELD) {
    const running = await parts.requests.running(account, size);
    return { requests: running.map((row) => messageOfLedger(row, isAll, undefined)), nextPageToken: "" };
  }
  const filter = filterOf(asked, account, timesOf(asked));
  const after = decodeToken(LIST, token, TIME_CURSOR);
  const matches = (): Promise<readonly Found[]> => matching(filter, asked.state, size + 1, after, parts);
  // What runs, and what ended just now, is on the first page alone: what is older has its record.
  const isFirst = after === undefined && isUnfiltered(asked);
  const begun = isFirst ? await parts.requests.running(account, size) : [];
  const found = isFirst ? await firstOf(account, matches, begun, size, parts) : await matches();
  const ended = new Set(found.map(({ id }) => id));
  const running = begun.filter(({ id }) => !ended.has(id));
  const rest = found.slice(0, size - running.length);
  const requests = running.map((row) => messageOfLedger(row, isAll, undefined));
  const desc = recordDesc();
  const isAnyUnknown = rest.some(({ row, record }) => row === undefined && record !== undefined && mayBeHeld(record));
  const archivedMs = isAnyUnknown ? ((await parts.archivedUntil()) ?? 0) : 0;
  const told = await mapInTurns(rest, ({ row, record }) => {
    const unknown = record && messageOfUnknown(record, archivedMs);
    const message = row === undefined ? unknown : messageOfLedger(row, isAll, record);
    return message && withOwnMoney(desc, message);
  });
  for (const message of told) if (message !== undefined) requests.push(message);
  const last = rest.at(-1) ?? { endTimeMs: ALL_MS, id: "~" };
  const nextPageToken = rest.length === found.length ? "" : encodeToken(LIST, { timeMs: last.endTimeMs, id: last.id });
  return { requests, nextPageToken };
}

function recordDesc(): DescMessage {
  const { output } = methodByPath(UsageServiceService.listRequests.path).desc;
  return output.fields.find(({ localName }) => localName === "requests")?.message ?? output;
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
 * Records, and those of the ledger's newest that have none yet, as a crash or another node's last moment leaves them.
 * Where one is found, all that have none are given one.
 */
async function firstOf(
  account: string | undefined,
  matches: () => Promise<readonly Found[]>,
  running: readonly RequestRow[],
  size: number,
  { requests, records, adopt }: Parts,
): Promise<readonly Found[]> {
  const recorded = await matches();
  const { rows } = await requests.list(account, { size: Math.min(size, NEWEST_ROWS), token: "" });
  const seen = new Set([...recorded, ...running].map(({ id }) => id));
  const last = recorded.length > size ? recorded.at(-1) : undefined;
  const ended = rows.flatMap((row): Found[] => {
    if (row.endTimeMs === null || seen.has(row.id)) return [];
    const one = { id: row.id, endTimeMs: row.endTimeMs, row, record: undefined };
    return last === undefined || byEnd(one, last) < 0 ? [one] : [];
  });
  if (ended.length === 0) return recorded;
  // A record has a time of its own, and may stand on the next page for it.
  const known = new Set(await records.known(ended.map(({ id }) => id)));
  const unrecorded = ended.filter(({ id }) => !known.has(id));
  if (unrecorded.length > 0) adopt();
  // What has a record now and had none when the page was read is on the page as it is read now.
  const page = known.size === 0 ? recorded : await matches();
  const paged = new Set(page.map(({ id }) => id));
  return [...page, ...unrecorded.filter(({ id }) => !paged.has(id))].sort(byEnd);
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
    const held = some.filter(mayBeHeld).map(({ id }) => id);
    const rows = new Map<string, RequestRow>();
    for (let at = 0; at < held.length; at += ROWS_AT_ONCE)
      for (const row of await requests.many(held.slice(at, at + ROWS_AT_ONCE))) rows.set(row.id, row);
    for (const record of some) {
      const row = rows.get(record.id);
      if (state === 0 || stateOf(row) === state)
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

function isUnfiltered({
  accountId: _account,
  pageSize: _size,
  pageToken: _token,
  ...rest
}: ListRequestsRequest): boolean {
  return Object.values(rest).every((value) => value === undefined || value === "" || value === 0 || value === false);
}
