/** The check of rows that change: each carries a digest of itself, so that one with a changed byte is named. */
import { type DigestedValue, digestOf } from "./digest.js";
import type { Sqlite } from "./sqlite/binding.js";
import { TOKEN_COLUMNS } from "./token-columns.js";

const FREEZE = ", frozen_time_ms, freeze_reason, freeze_actor, freeze_ends_streams";
const LIMITS = ", requests_per_minute, tokens_per_minute, concurrency, model_limits";

/** The accounts that have, or have not, a freeze and limits: only where there are any the digest tells of them. */
function accountRows(freeze: string, limits: string): { readonly what: string; readonly sql: string } {
  const isLimited = "(requests_per_minute + tokens_per_minute + concurrency > 0 OR length(model_limits) > 0)";
  return {
    what: "account",
    sql: `SELECT id, digest, id, name, create_time_ms, budget_day_nanos, budget_month_nanos, budget_total_nanos,
      request_cost_max_nanos${freeze}${limits} FROM account
      WHERE (frozen_time_ms IS NOT NULL) = ${freeze === "" ? 0 : 1} AND ${isLimited} = ${limits === "" ? 0 : 1}`,
  };
}

/** What each kind of row is called, and its name, its digest, and its values in the order of the digest. */
const ROWS: readonly { readonly what: string; readonly sql: string }[] = [
  ...["", FREEZE].flatMap((freeze) => ["", LIMITS].map((limits) => accountRows(freeze, limits))),
  {
    what: "checkpoint of the hold",
    sql: `SELECT hold_sequence, digest, hold_sequence, cost_nanos, upstream, attempts, ${TOKEN_COLUMNS.join(", ")}
      FROM checkpoint WHERE operator_cost_nanos IS NULL`,
  },
  {
    what: "checkpoint of the hold",
    sql: `SELECT hold_sequence, digest, hold_sequence, cost_nanos, upstream, attempts, ${TOKEN_COLUMNS.join(", ")},
      operator_cost_nanos FROM checkpoint WHERE operator_cost_nanos IS NOT NULL`,
  },
  {
    what: "key",
    sql: `SELECT id, row_digest, id, account_id, settings, digest, previous_digest, previous_until_ms, hint,
      create_time_ms, revoke_time_ms, revision FROM key WHERE maker_id IS NULL`,
  },
  {
    what: "key",
    sql: `SELECT id, row_digest, id, account_id, settings, digest, previous_digest, previous_until_ms, hint,
      create_time_ms, revoke_time_ms, revision, maker_id FROM key WHERE maker_id IS NOT NULL`,
  },
  {
    what: "accepted loss",
    sql: "SELECT number, digest, number, accept_time_ms, sequence, found FROM accepted_loss",
  },
];

export function changedRows(database: Sqlite, problemsMax: number): string[] {
  const problems: string[] = [];
  for (const { what, sql } of ROWS) {
    for (const [name, digest, ...values] of database.prepare<[], DigestedValue[]>(sql).raw().iterate()) {
      if (problems.length === problemsMax) return problems;
      if (!(digest instanceof Uint8Array) || Buffer.compare(digest, digestOf(...values)) !== 0)
        problems.push(`The ${what} ${String(name)} was changed: its digest does not fit it.`);
    }
  }
  return problems;
}
