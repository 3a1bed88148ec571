/**
 * Requests as callers see them: one row for each, although a request that fell back to another model has a hold for
 * each model. The last hold is the request; the ones before it were freed.
 */
import { laterHoldIds, requestIdOf } from "../ledger/fallback-hold.js";
import type { AsyncTableCalls } from "./calls.js";
import type { ReceiptRow, RequestRow } from "./store.js";

type Calls = Pick<AsyncTableCalls, "requestsOf" | "receipt">;

/** The request, by the last of its holds. */
export async function wholeRequest(id: string, calls: Calls): Promise<RequestRow | undefined> {
  return (await wholeRequests([id], calls))[0];
}

/** The same of several requests, those that exist, in any order. */
export async function wholeRequests(ids: readonly string[], calls: Calls): Promise<readonly RequestRow[]> {
  const rows = await calls.requestsOf(ids);
  const charged = new Set(rows.filter((row) => !mayBeFollowed(row)).map(({ id }) => id));
  const open = ids.filter((id) => !charged.has(id));
  const later = open.length === 0 ? [] : await calls.requestsOf(open.flatMap(laterHoldIds));
  return lastHolds([...rows, ...later]);
}

/** The request with the transfers of all of its holds. */
export async function wholeReceipt(id: string, calls: Calls): Promise<ReceiptRow | undefined> {
  const first = await calls.receipt(id);
  if (first !== undefined && !mayBeFollowed(first.request)) return { ...first, request: asRequest(first.request) };
  const request = await wholeRequest(id, calls);
  if (request === undefined) return undefined;
  const receipts = await Promise.all(laterHoldIds(id).map((holdId) => calls.receipt(holdId)));
  return { request, entries: [first, ...receipts].flatMap((receipt) => receipt?.entries ?? []) };
}

/** One row for each request of a list of holds, newest first: a hold that another one followed is left out. */
export async function requestsOfHolds(rows: readonly RequestRow[], calls: Calls): Promise<readonly RequestRow[]> {
  const freed = rows.filter(mayBeFollowed);
  const later = freed.length === 0 ? [] : await calls.requestsOf(freed.flatMap(({ id }) => laterHoldIds(id)));
  const followed = new Set(later.map(({ id }) => requestIdOf(id)));
  return lastHolds(rows.filter((row) => !mayBeFollowed(row) || !followed.has(requestIdOf(row.id))));
}

/** True of a hold without a charge: only such a one is followed by the hold of another model. */
function mayBeFollowed({ state }: RequestRow): boolean {
  return state === "voided" || state === "expired";
}

/** The last hold of each request, in the order in which the requests first appear. */
function lastHolds(rows: readonly RequestRow[]): readonly RequestRow[] {
  const last = new Map<string, RequestRow>();
  for (const row of rows) {
    const id = requestIdOf(row.id);
    const known = last.get(id);
    if (known === undefined || known.id < row.id) last.set(id, row);
  }
  return [...last.values()].map(asRequest);
}

function asRequest(row: RequestRow): RequestRow {
  return { ...row, id: requestIdOf(row.id), holdId: row.id };
}
