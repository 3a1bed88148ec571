/** Pages of an account's statement: its entries in the order of its chain, with what stood on it after each. */
import { z } from "zod";
import { dayOf } from "../base/day.js";
import { GatewayError } from "../base/errors.js";
import { checkSize, decodeToken, encodeToken } from "./page.js";
import type { BalancePoint, EntryRow, PageRequest, StatementPage, StatementPeriod } from "./store.js";

/** How many entries are added up at once, so that holds and settlements get their turn in between. */
const SUM_ENTRIES = 1_000;

/** Places in the account's chain, the end not included. */
export interface EntrySpan {
  readonly first: number;
  readonly end: number;
}

/** What some entries change together. `last` is the place of the last of them; undefined where there are none. */
export interface EntrySum extends BalancePoint {
  readonly last: number | undefined;
}

/** Where a statement begins and ends, and the newest transfer with what stands on the account after it. */
export interface StatementBounds extends EntrySpan, BalancePoint {
  readonly newest: number;
  /** The first place that is not archived, and what stood on the account before it. */
  readonly start: BalancePoint & { readonly place: number };
  /** Entries before are in an archive; undefined where none are. */
  readonly archivedUntilMs: number | undefined;
}

/** What a driver reads for a statement, each at one moment. */
export interface StatementReads {
  /** Undefined where there is no such account. */
  bounds(fromMs: number | undefined, toMs: number | undefined): Promise<StatementBounds | undefined>;
  /** Up to `count` entries of the account, oldest first. */
  span(span: EntrySpan, count: number): Promise<readonly EntryRow[]>;
  /** The sum of up to `count` of them. */
  sum(span: EntrySpan, count: number): Promise<EntrySum>;
}

const NANOS = z.string().regex(/^-?\d{1,19}$/);
/** Where the last page ended: the next place, the end of the statement, and what stood on the account. */
const CURSOR = z.tuple([z.int().min(1), z.int().min(1), NANOS, NANOS]);

/**
 * One page of a statement. The first page fixes where the statement ends, so that what is booked meanwhile does not
 * come into it. Undefined where there is no such account. Rejects with PARAMETER_INVALID where the page is none.
 */
export async function statementPage(
  accountId: string,
  period: StatementPeriod,
  page: PageRequest,
  reads: StatementReads,
): Promise<StatementPage | undefined> {
  const size = checkSize(page);
  // The account and the period are in the list's name, since a token carries what stood on that account then.
  const list = `statement ${accountId} ${period.fromMs ?? ""} ${period.toMs ?? ""}`;
  const cursor = decodeToken(list, page.token, CURSOR);
  const bounds = await reads.bounds(period.fromMs, period.toMs);
  if (bounds === undefined) return undefined;
  checkArchived(period, bounds);
  const span = cursor === undefined ? bounds : { first: cursor[0], end: cursor[1] };
  const opening =
    cursor === undefined
      ? await balanceBefore(bounds.first, bounds, reads)
      : { availableNanos: BigInt(cursor[2]), heldNanos: BigInt(cursor[3]) };
  const rows = await reads.span(span, size + 1);
  let closing: BalancePoint = opening;
  const entries = rows.slice(0, size).map((entry) => {
    closing = plus(closing, { availableNanos: entry.availableChangeNanos, heldNanos: entry.heldChangeNanos }, 1n);
    return Object.assign(entry, closing);
  });
  const last = entries.at(-1);
  const more = rows.length > size && last !== undefined;
  const next =
    last === undefined ? [] : [last.accountSequence + 1, span.end, `${last.availableNanos}`, `${last.heldNanos}`];
  const archivedUntilMs = period.fromMs === undefined ? bounds.archivedUntilMs : undefined;
  return { entries, opening, closing, nextPageToken: more ? encodeToken(list, next) : "", archivedUntilMs };
}

/** A statement that lacked the entries of a month would not say so. */
function checkArchived({ fromMs, toMs }: StatementPeriod, { archivedUntilMs = 0 }: StatementBounds): void {
  const param = (fromMs ?? Infinity) < archivedUntilMs ? "from" : "to";
  if (Math.min(fromMs ?? Infinity, toMs ?? Infinity) >= archivedUntilMs) return;
  const problem = `the entries before ${dayOf(archivedUntilMs)} are archived`;
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param, problem });
}

/** What stood on the account before a place: the entries on the side with fewer transfers are added up. */
async function balanceBefore(place: number, bounds: StatementBounds, reads: StatementReads): Promise<BalancePoint> {
  const { start, newest } = bounds;
  if (place - start.place <= newest - place)
    return plus(start, await sumOf({ first: start.place, end: place }, reads), 1n);
  return plus(bounds, await sumOf({ first: place, end: bounds.newest + 1 }, reads), -1n);
}

async function sumOf(span: EntrySpan, reads: StatementReads): Promise<BalancePoint> {
  let sum: BalancePoint = { availableNanos: 0n, heldNanos: 0n };
  let { first } = span;
  while (first < span.end) {
    const part = await reads.sum({ first, end: span.end }, SUM_ENTRIES);
    if (part.last === undefined) break;
    sum = plus(sum, part, 1n);
    first = part.last + 1;
  }
  return sum;
}

function plus(a: BalancePoint, b: BalancePoint, sign: 1n | -1n): BalancePoint {
  return {
    availableNanos: a.availableNanos + sign * b.availableNanos,
    heldNanos: a.heldNanos + sign * b.heldNanos,
  };
}
