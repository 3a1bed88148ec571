/** Accounts: what is asked of a database, and what its rows say. */
import { isDeepStrictEqual } from "node:util";
import { AccountSettings } from "../../gen/tollgate/v1/account_service.js";
import { type Act, type AuditEvent, eventOf } from "../audit/act.js";
import { changeOf } from "../audit/snapshot.js";
import type { ListedAccount } from "./account-list.js";
import { withEtag } from "./account-etag.js";
import { type AccountColumns, LEASED, OF_NODE } from "./columns.js";
import { digestOf } from "./digest.js";
import type {
  AccountBudgets,
  AccountChange,
  AccountLimits,
  AccountRow,
  BalanceRow,
  Freeze,
  NewAccountRow,
} from "./store.js";
import { placeholders } from "./token-columns.js";

const NO_BUDGETS: AccountBudgets = {
  budgetDayNanos: 0n,
  budgetMonthNanos: 0n,
  budgetWeekNanos: 0n,
  budgetQuarterNanos: 0n,
  budgetTotalNanos: 0n,
  requestCostMaxNanos: 0n,
};
const NO_LIMITS: AccountLimits = { requestsPerMinute: 0n, tokensPerMinute: 0n, concurrency: 0n, modelLimits: [] };

export const INSERT_ACCOUNT = `INSERT INTO account (id, name, create_time_ms, budget_day_nanos, budget_month_nanos,
  budget_total_nanos, request_cost_max_nanos, frozen_time_ms, freeze_reason, freeze_actor, freeze_ends_streams,
  requests_per_minute, tokens_per_minute, concurrency, model_limits, plan, file_state, digest)
  VALUES (${placeholders(18)})
  ON CONFLICT DO NOTHING`;
export const UPDATE_ACCOUNT = `UPDATE account SET id = ?, name = ?, create_time_ms = ?, budget_day_nanos = ?,
  budget_month_nanos = ?, budget_total_nanos = ?, request_cost_max_nanos = ?, frozen_time_ms = ?, freeze_reason = ?,
  freeze_actor = ?, freeze_ends_streams = ?, requests_per_minute = ?, tokens_per_minute = ?, concurrency = ?,
  model_limits = ?, plan = ?, file_state = ?, digest = ? WHERE id = ?`;

/** Asks back what nodes were granted under what an account was before a change, in the change's own transaction. */
export const RECALL_LEASES = `UPDATE lease SET recalled = 1 WHERE account_id = ? AND recalled = 0
  AND ${OF_NODE}`;

export const CORRECTED = `SELECT kind, SUM(posted_nanos) AS nanos FROM transfer
  WHERE reason IS NOT NULL AND account_id = ? AND kind IN ('refund', 'receivable') GROUP BY kind`;

export const ACCOUNT = "SELECT * FROM account WHERE id = ?";
/** With what leases of it have left: nobody's yet, since nodes give it back as soon as it is asked for. */
export const BALANCE = `SELECT account.*, ${LEASED} AS leased_nanos FROM account WHERE id = ?`;

export interface CorrectedColumns {
  readonly kind: string;
  readonly nanos: bigint;
}

/** The values of a new row. */
export function newAccountValues(account: NewAccountRow): unknown[] {
  const { budgets = NO_BUDGETS, limits = NO_LIMITS, plan = "", fileState = "" } = account;
  return accountValues({ ...account, budgets, limits, plan, fileState, freeze: null });
}

/** The account with some settings in the place of its own. */
export function withSettings(account: AccountRow, change: AccountChange): AccountRow {
  const { name = account.name, plan = account.plan, freeze = account.freeze, fileState = account.fileState } = change;
  const next = { ...account.budgets, ...account.limits, ...change };
  const settings = { budgets: budgetsOf(next), limits: limitsOf(next) };
  return withEtag({ ...account, name, plan, freeze, fileState, ...settings });
}

export function withFreeze(account: AccountRow, freeze: Freeze | null): AccountRow {
  return withEtag({ ...account, freeze });
}

export type BalanceColumns = AccountColumns & { readonly leased_nanos: bigint };

export function toBalance(row: BalanceColumns, corrections: readonly CorrectedColumns[]): BalanceRow {
  const corrected = new Map(corrections.map(({ kind, nanos }) => [kind, nanos]));
  const debitedNanos = row.debited_nanos;
  return {
    availableNanos: row.credits_posted - row.debits_posted - row.debits_pending + row.leased_nanos,
    heldNanos: row.debits_pending - row.leased_nanos,
    spentNanos: row.debits_posted - debitedNanos,
    grantedNanos: row.credits_posted - debitedNanos,
    refundedNanos: corrected.get("refund") ?? 0n,
    debitedNanos,
    receivableNanos: corrected.get("receivable") ?? 0n,
  };
}

/** All but the sums, which the transfers prove, and their digest. */
export function accountValues({
  id,
  name,
  createTimeMs,
  budgets,
  limits,
  plan,
  fileState,
  freeze,
}: Omit<AccountRow, "etag">): unknown[] {
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
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  const models = encodedRest(budgets, limits);
  const counts = [requestsPerMinute, tokensPerMinute, concurrency, models] as const;
  const isLimited = requestsPerMinute + tokensPerMinute + concurrency > 0n || models.length > 0;
  // A row without a freeze or limits says nothing of them, as those of a schema that knew none.
  const told = [...values, ...(freeze === null ? [] : state), ...(isLimited ? counts : [])];
  return [...values, ...state, ...counts, plan, fileState, digestOf(...told)];
}

/** The settings without a column of their own, in one. */
function encodedRest(
  { budgetWeekNanos, budgetQuarterNanos }: AccountBudgets,
  { modelLimits, content, demands, creditLine, quotas }: AccountLimits,
): Uint8Array {
  const optional = { content, demands, creditLine, quotas };
  const rest = { modelLimits: [...modelLimits], ...optional, budgetWeekNanos, budgetQuarterNanos };
  return AccountSettings.encode({ ...NO_BUDGETS, ...NO_LIMITS, ...rest }).finish();
}

function budgetsOf({
  budgetDayNanos,
  budgetWeekNanos,
  budgetMonthNanos,
  budgetQuarterNanos,
  budgetTotalNanos,
  requestCostMaxNanos,
}: AccountBudgets): AccountBudgets {
  const wide = { budgetWeekNanos, budgetQuarterNanos };
  return { budgetDayNanos, budgetMonthNanos, budgetTotalNanos, requestCostMaxNanos, ...wide };
}

function limitsOf({
  requestsPerMinute,
  tokensPerMinute,
  concurrency,
  modelLimits,
  content,
  demands,
  creditLine,
  quotas,
}: AccountLimits): AccountLimits {
  return { requestsPerMinute, tokensPerMinute, concurrency, modelLimits, content, demands, creditLine, quotas };
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

/** An account in a list, which goes on behind it. */
export function toListedAccount(row: ListedAccount): AccountRow {
  return { ...toAccount(row), sortValue: row.sort_value };
}

export function toAccount(row: AccountColumns): AccountRow {
  const rest = AccountSettings.decode(row.model_limits);
  const { modelLimits, content, demands, creditLine, quotas, budgetWeekNanos, budgetQuarterNanos } = rest;
  return withEtag({
    id: row.id,
    name: row.name,
    createTimeMs: Number(row.create_time_ms),
    plan: row.plan,
    fileState: row.file_state,
    freeze: freezeOf(row),
    limits: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      concurrency: row.concurrency,
      modelLimits,
      content,
      demands,
      creditLine,
      quotas,
    },
    budgets: {
      budgetDayNanos: row.budget_day_nanos,
      budgetWeekNanos,
      budgetQuarterNanos,
      budgetMonthNanos: row.budget_month_nanos,
      budgetTotalNanos: row.budget_total_nanos,
      requestCostMaxNanos: row.request_cost_max_nanos,
    },
  });
}

/** The record of a change of an account, in the transaction that makes it. An account that did not change says so. */
export function accountEvent(act: Act, before: AccountRow | undefined, after: AccountRow | undefined): AuditEvent {
  const id = after?.id ?? before?.id ?? "";
  const [was, is] = [before && factsOf(before), after && factsOf(after)];
  const result = before !== undefined && isDeepStrictEqual(was, is) ? "unchanged" : "done";
  const told = changeOf({ before: was, after: is });
  return eventOf(act, { resource: `accounts/${id}`, accountId: id, result, ...told });
}

/** What a person sets of an account; its sums are the transfers'. */
function factsOf({ name, plan, fileState, budgets, limits, freeze }: AccountRow): object {
  return { name, plan, ...(fileState === "" ? {} : { fileState }), ...budgets, ...limits, freeze };
}
