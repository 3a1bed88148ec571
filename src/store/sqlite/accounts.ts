/** Accounts and balances in SQLite. */
import { AccountSettings } from "../../../gen/tollgate/v1/account_service.js";
import { withEtag } from "../account-etag.js";
import { digestOf } from "../digest.js";
import type { AccountColumns } from "./columns.js";
import type { Sqlite } from "./binding.js";
import type { AccountBudgets, AccountLimits, AccountRow, BalanceRow, Freeze, NewAccountRow } from "../store.js";

const NO_BUDGETS: AccountBudgets = {
  budgetDayNanos: 0n,
  budgetMonthNanos: 0n,
  budgetTotalNanos: 0n,
  requestCostMaxNanos: 0n,
};
const NO_LIMITS: AccountLimits = { requestsPerMinute: 0n, tokensPerMinute: 0n, concurrency: 0n, modelLimits: [] };

const INSERT = `INSERT INTO account (id, name, create_time_ms, budget_day_nanos, budget_month_nanos,
  budget_total_nanos, request_cost_max_nanos, frozen_time_ms, freeze_reason, freeze_actor, freeze_ends_streams,
  requests_per_minute, tokens_per_minute, concurrency, model_limits, digest)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;
const UPDATE = `UPDATE account SET id = ?, name = ?, create_time_ms = ?, budget_day_nanos = ?, budget_month_nanos = ?,
  budget_total_nanos = ?, request_cost_max_nanos = ?, frozen_time_ms = ?, freeze_reason = ?, freeze_actor = ?,
  freeze_ends_streams = ?, requests_per_minute = ?, tokens_per_minute = ?, concurrency = ?, model_limits = ?,
  digest = ? WHERE id = ?`;

const CORRECTED = `SELECT kind, SUM(posted_nanos) AS nanos FROM transfer
  WHERE reason IS NOT NULL AND account_id = ? AND kind IN ('refund', 'receivable') GROUP BY kind`;

export class SqliteAccounts {
  readonly #insert;
  readonly #update;
  readonly #get;
  readonly #list;
  readonly #corrected;

  constructor(database: Sqlite) {
    this.#insert = database.prepare(INSERT);
    this.#update = database.prepare(UPDATE);
    this.#corrected = database.prepare<[string], { kind: string; nanos: bigint }>(CORRECTED);
    this.#get = database.prepare<[string], AccountColumns>("SELECT * FROM account WHERE id = ?");
    this.#list = database.prepare<[string, number], AccountColumns>(
      "SELECT * FROM account WHERE id > ? ORDER BY id LIMIT ?",
    );
  }

  create(account: NewAccountRow): boolean {
    const { budgets = NO_BUDGETS, limits = NO_LIMITS } = account;
    return this.#insert.run(...valuesOf({ ...account, budgets, limits, freeze: null })).changes === 1;
  }

  setSettings(
    id: string,
    settings: Partial<AccountBudgets & AccountLimits>,
    etag: string,
  ): AccountRow | "stale" | undefined {
    const account = this.get(id);
    if (account === undefined) return undefined;
    if (etag !== "" && etag !== account.etag) return "stale";
    const next = { ...account.budgets, ...account.limits, ...settings };
    const changed = { ...account, budgets: budgetsOf(next), limits: limitsOf(next) };
    this.#update.run(...valuesOf(changed), id);
    return withEtag(changed);
  }

  setFreeze(id: string, freeze: Freeze | null): AccountRow | undefined {
    const account = this.get(id);
    if (account === undefined) return undefined;
    const changed = { ...account, freeze };
    this.#update.run(...valuesOf(changed), id);
    return withEtag(changed);
  }

  get(id: string): AccountRow | undefined {
    const row = this.#get.get(id);
    return row && toAccount(row);
  }

  list(count: number, afterId: string): AccountRow[] {
    return this.#list.all(afterId, count).map(toAccount);
  }

  balance(accountId: string): BalanceRow | undefined {
    const row = this.#get.get(accountId);
    if (row === undefined) return undefined;
    const corrected = new Map(this.#corrected.all(accountId).map(({ kind, nanos }) => [kind, nanos]));
    const debitedNanos = row.debited_nanos;
    return {
      availableNanos: row.credits_posted - row.debits_posted - row.debits_pending,
      heldNanos: row.debits_pending,
      spentNanos: row.debits_posted - debitedNanos,
      grantedNanos: row.credits_posted - debitedNanos,
      refundedNanos: corrected.get("refund") ?? 0n,
      debitedNanos,
      receivableNanos: corrected.get("receivable") ?? 0n,
    };
  }
}

/** All but the sums, which the transfers prove, and their digest. */
function valuesOf({ id, name, createTimeMs, budgets, limits, freeze }: Omit<AccountRow, "etag">): unknown[] {
  const { budgetDayNanos, budgetMonthNanos, budgetTotalNanos, requestCostMaxNanos } = budgets;
  const values = [
    id,
    name,
    createTimeMs,
    budgetDayNanos,
    budgetMonthNanos,
    budgetTotalNanos,
    requestCostMaxNanos,
  ] as const;
  const state = [freeze?.timeMs ?? null, freeze?.reason ?? null, freeze?.actor ?? null, freezeNumber(freeze)] as const;
  const { requestsPerMinute, tokensPerMinute, concurrency, modelLimits } = limits;
  const models = encodedModels(modelLimits);
  const counts = [requestsPerMinute, tokensPerMinute, concurrency, models] as const;
  const isLimited = requestsPerMinute + tokensPerMinute + concurrency > 0n || models.length > 0;
  // A row without a freeze or limits says nothing of them, as those of a schema that knew none.
  const told = [...values, ...(freeze === null ? [] : state), ...(isLimited ? counts : [])];
  return [...values, ...state, ...counts, digestOf(...told)];
}

function encodedModels(modelLimits: AccountLimits["modelLimits"]): Uint8Array {
  return AccountSettings.encode({ ...NO_BUDGETS, ...NO_LIMITS, modelLimits }).finish();
}

function budgetsOf({
  budgetDayNanos,
  budgetMonthNanos,
  budgetTotalNanos,
  requestCostMaxNanos,
}: AccountBudgets): AccountBudgets {
  return { budgetDayNanos, budgetMonthNanos, budgetTotalNanos, requestCostMaxNanos };
}

function limitsOf({ requestsPerMinute, tokensPerMinute, concurrency, modelLimits }: AccountLimits): AccountLimits {
  return { requestsPerMinute, tokensPerMinute, concurrency, modelLimits };
}

function freezeNumber(freeze: Freeze | null): number | null {
  return freeze === null ? null : Number(freeze.endsStreams);
}

function freezeOf(row: AccountColumns): Freeze | null {
  if (row.frozen_time_ms === null) return null;
  return {
    timeMs: Number(row.frozen_time_ms),
    reason: row.freeze_reason ?? "",
    actor: row.freeze_actor ?? "",
    endsStreams: row.freeze_ends_streams === 1n,
  };
}

function toAccount(row: AccountColumns): AccountRow {
  return withEtag({
    id: row.id,
    name: row.name,
    createTimeMs: Number(row.create_time_ms),
    freeze: freezeOf(row),
    limits: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrency: row.concurrency,
      modelLimits: AccountSettings.decode(row.model_limits).modelLimits,
    },
    budgets: {
      budgetDayNanos: row.budget_day_nanos,
      budgetMonthNanos: row.budget_month_nanos,
      budgetTotalNanos: row.budget_total_nanos,
      requestCostMaxNanos: row.request_cost_max_nanos,
    },
  });
}
