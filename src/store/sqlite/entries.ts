/** Transfers in SQLite, as they concern one account or one request. */
import { ARCHIVED_UNTIL } from "../book-rows.js";
import type { TransferColumns } from "../columns.js";
import {
  type BalanceColumns,
  ENTRIES_OF_REQUEST,
  NEWEST_ENTRIES,
  POINT,
  SPAN,
  SPAN_SUM,
  type SpanParameters,
  type SumColumns,
  TIME_OF,
  toEntry,
  toStart,
  toSum,
} from "../entry-rows.js";
import type { Sqlite } from "./binding.js";
import type { EntrySpan, EntrySum, StatementBounds } from "../statement.js";
import type { EntryRow } from "../store.js";

type NewestParameters = { readonly accountId: string; readonly before: number; readonly count: number };

export class SqliteEntries {
  readonly #newest;
  readonly #ofRequest;
  readonly #span;
  readonly #sum;
  readonly #balance;
  readonly #timeOf;
  readonly #archivedUntil;

  constructor(database: Sqlite) {
    this.#newest = database.prepare<[NewestParameters], TransferColumns>(NEWEST_ENTRIES);
    this.#ofRequest = database.prepare<[{ requestId: string }], TransferColumns>(ENTRIES_OF_REQUEST);
    this.#span = database.prepare<[SpanParameters], TransferColumns>(SPAN);
    this.#sum = database.prepare<[SpanParameters], SumColumns>(SPAN_SUM);
    this.#balance = database.prepare<[string], BalanceColumns>(POINT);
    this.#timeOf = database.prepare<[string, number], bigint>(TIME_OF).pluck();
    this.#archivedUntil = database.prepare<[], bigint | null>(ARCHIVED_UNTIL).pluck();
  }

  /** Before when transfers are archived; undefined where none are. */
  archivedUntil(): number | undefined {
    const untilMs = this.#archivedUntil.get() ?? null;
    return untilMs === null ? undefined : Number(untilMs);
  }

  /** Newest first. */
  list(accountId: string, count: number, beforeSequence: number | undefined): EntryRow[] {
    return this.#newest.all({ accountId, before: beforeSequence ?? Number.MAX_SAFE_INTEGER, count }).map(toEntry);
  }

  /** Oldest first. */
  ofRequest(requestId: string): EntryRow[] {
    return this.#ofRequest.all({ requestId }).map(toEntry);
  }

  /** Oldest first. */
  span(accountId: string, span: EntrySpan, count: number): EntryRow[] {
    return this.#span.all({ ...span, accountId, count }).map(toEntry);
  }

  /** What the first `count` entries of a span change together. */
  sum(accountId: string, span: EntrySpan, count: number): EntrySum {
    return toSum(this.#sum.get({ ...span, accountId, count }));
  }

  /** Undefined where there is no such account. */
  bounds(accountId: string, fromMs: number | undefined, toMs: number | undefined): StatementBounds | undefined {
    const row = this.#balance.get(accountId);
    if (row === undefined) return undefined;
    const newest = Number(row.newest);
    const told = toStart(row);
    const { place } = told.start;
    return {
      first: fromMs === undefined ? place : this.#sequenceAt(accountId, fromMs, place, newest),
      end: toMs === undefined ? newest + 1 : this.#sequenceAt(accountId, toMs, place, newest),
      newest,
      ...told,
      availableNanos: row.available,
      heldNanos: row.held,
    };
  }

  /**
   * The place in the account's chain where a time begins. The steps of the search do not depend on how long the chain
   * is, so that the answer stays, even where a clock jumped and times do not rise with the sequences. What is archived
   * is before every time.
   */
  #sequenceAt(accountId: string, timeMs: number, start: number, newest: number): number {
    let before = 0;
    for (let step = 2 ** 52; step >= 1; step /= 2) {
      if (before + step > newest) continue;
      const place = before + step;
      const time = place < start ? undefined : this.#timeOf.get(accountId, place);
      if (place < start || (time !== undefined && Number(time) < timeMs)) before = place;
    }
    return before + 1;
  }
}
