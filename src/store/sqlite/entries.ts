/** Transfers in SQLite, as they concern one account or one request. */
import { type Transfer, creditAccount, debitAccount, transferId } from "../../ledger/transfer.js";
import { CREDIT_ACCOUNT, DEBIT_ACCOUNT, TRANSFERS, type TransferColumns, toTransfer } from "./columns.js";
import type { Sqlite } from "./binding.js";
import type { EntrySpan, EntrySum, StatementBounds } from "../statement.js";
import type { EntryRow } from "../store.js";

/** What a transfer changes of the account that it concerns; an overage concerns it, but the operator pays. */
const AVAILABLE = `CASE account_id WHEN ${CREDIT_ACCOUNT} THEN posted_nanos
  WHEN ${DEBIT_ACCOUNT} THEN -pending_nanos - posted_nanos ELSE 0 END`;
const HELD = `CASE account_id WHEN ${DEBIT_ACCOUNT} THEN pending_nanos ELSE 0 END`;
const SPAN = `transfer.account_id = :accountId AND transfer.account_sequence >= :first
  AND transfer.account_sequence < :end ORDER BY transfer.account_sequence LIMIT :count`;

/** A request's transfers, each found by its place: an overage is the one behind its settlement. */
const OF_REQUEST = `${TRANSFERS} WHERE hold.request_id = :requestId AND transfer.sequence IN (
  SELECT sequence FROM hold WHERE request_id = :requestId
  UNION ALL SELECT release.sequence FROM release JOIN hold ON hold.sequence = hold_sequence
    WHERE request_id = :requestId
  UNION ALL SELECT usage.sequence FROM usage JOIN hold ON hold.sequence = hold_sequence WHERE request_id = :requestId
  UNION ALL SELECT usage.sequence + 1 FROM usage JOIN hold ON hold.sequence = hold_sequence
    WHERE request_id = :requestId AND overage_nanos > 0
  UNION ALL SELECT refund.sequence FROM transfer AS refund JOIN hold ON hold.sequence = refund.hold_sequence
    WHERE hold.request_id = :requestId AND refund.reason IS NOT NULL AND refund.account_id = hold.account_id
    AND refund.kind = 'refund'
) ORDER BY transfer.sequence`;

interface SumColumns {
  readonly last: bigint | null;
  readonly available: bigint | null;
  readonly held: bigint | null;
}

interface BalanceColumns {
  readonly available: bigint;
  readonly held: bigint;
  readonly newest: bigint;
}

type SpanParameters = EntrySpan & { readonly accountId: string; readonly count: number };

export class SqliteEntries {
  readonly #newest;
  readonly #ofRequest;
  readonly #span;
  readonly #sum;
  readonly #balance;
  readonly #timeOf;

  constructor(database: Sqlite) {
    this.#newest = database.prepare<[string, number, number], TransferColumns>(
      `${TRANSFERS} WHERE transfer.account_id = ? AND transfer.account_sequence < ?
        ORDER BY transfer.account_sequence DESC LIMIT ?`,
    );
    this.#ofRequest = database.prepare<[{ requestId: string }], TransferColumns>(OF_REQUEST);
    this.#span = database.prepare<[SpanParameters], TransferColumns>(`${TRANSFERS} WHERE ${SPAN}`);
    this.#sum = database.prepare<[SpanParameters], SumColumns>(
      `SELECT max(account_sequence) AS last, sum(available) AS available, sum(held) AS held
        FROM (SELECT account_sequence, ${AVAILABLE} AS available, ${HELD} AS held FROM transfer WHERE ${SPAN})`,
    );
    this.#balance = database.prepare<[string], BalanceColumns>(
      `SELECT credits_posted - debits_posted - debits_pending AS available, debits_pending AS held,
        chain_sequence AS newest FROM account WHERE id = ?`,
    );
    this.#timeOf = database
      .prepare<[string, number], bigint>(
        "SELECT create_time_ms FROM transfer WHERE account_id = ? AND account_sequence = ?",
      )
      .pluck();
  }

  /** Newest first. */
  list(accountId: string, count: number, beforeSequence: number | undefined): EntryRow[] {
    return this.#newest.all(accountId, beforeSequence ?? Number.MAX_SAFE_INTEGER, count).map(toEntry);
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
    const row = this.#sum.get({ ...span, accountId, count });
    const last = row?.last ?? undefined;
    return {
      last: last === undefined ? undefined : Number(last),
      availableNanos: row?.available ?? 0n,
      heldNanos: row?.held ?? 0n,
    };
  }

  /** Undefined where there is no such account. */
  bounds(accountId: string, fromMs: number | undefined, toMs: number | undefined): StatementBounds | undefined {
    const row = this.#balance.get(accountId);
    if (row === undefined) return undefined;
    const newest = Number(row.newest);
    return {
      first: fromMs === undefined ? 1 : this.#sequenceAt(accountId, fromMs, newest),
      end: toMs === undefined ? newest + 1 : this.#sequenceAt(accountId, toMs, newest),
      newest,
      availableNanos: row.available,
      heldNanos: row.held,
    };
  }

  /**
   * The place in the account's chain where a time begins. The steps of the search do not depend on how long the chain
   * is, so that the answer stays, even where a clock jumped and times do not rise with the sequences.
   */
  #sequenceAt(accountId: string, timeMs: number, newest: number): number {
    let before = 0;
    for (let step = 2 ** 52; step >= 1; step /= 2) {
      if (before + step > newest) continue;
      const time = this.#timeOf.get(accountId, before + step);
      if (time !== undefined && Number(time) < timeMs) before += step;
    }
    return before + 1;
  }
}

function toEntry(row: TransferColumns): EntryRow {
  const transfer = toTransfer(row);
  const { kind, sequence, accountSequence, accountId, pendingNanos, postedNanos, createTimeMs } = transfer;
  const isDebited = debitAccount(transfer) === accountId;
  return {
    id: transferId(transfer),
    kind,
    sequence,
    accountSequence,
    // What a hold set aside, what a void or an expiry freed, what all others paid.
    amountNanos: kind === "hold" ? pendingNanos : kind === "void" || kind === "expire" ? -pendingNanos : postedNanos,
    availableChangeNanos: availableChange(transfer),
    heldChangeNanos: isDebited ? pendingNanos : 0n,
    requestId: row.request_id ?? "",
    createTimeMs,
    debitAccount: debitAccount(transfer),
    creditAccount: creditAccount(transfer),
    reason: row.reason ?? "",
    actor: row.actor ?? "",
  };
}

/** An overage concerns the account, but the operator pays it. */
function availableChange({ kind, pendingNanos, postedNanos }: Transfer): bigint {
  if (kind === "credit" || kind === "refund") return postedNanos;
  return kind === "overage" || kind === "receivable" ? 0n : -pendingNanos - postedNanos;
}
