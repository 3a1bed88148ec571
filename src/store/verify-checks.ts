/** The checks of a proof, each a query whose rows are sentences on what does not hold. */
import { SOURCE_NONE } from "../ledger/rows.js";
import { TOKEN_COLUMNS } from "./token-columns.js";

/** What a row says, less what its sources say: one pass over both, because a full join of sums has no index. */
const ACCOUNTS = `
WITH side AS (
  SELECT id, debits_pending AS dp, debits_posted AS dq, credits_pending AS cp, credits_posted AS cq FROM account
  UNION ALL SELECT debit_account, -pending_nanos, -posted_nanos, 0, 0 FROM transfer
  UNION ALL SELECT credit_account, 0, 0, -pending_nanos, -posted_nanos FROM transfer
)
SELECT 'The account ' || id || ' does not equal its transfers: it is off by ' ||
  printf('%d pending and %d posted debits, %d pending and %d posted credits', SUM(dp), SUM(dq), SUM(cp), SUM(cq)) || '.'
FROM side GROUP BY id HAVING SUM(dp) <> 0 OR SUM(dq) <> 0 OR SUM(cp) <> 0 OR SUM(cq) <> 0`;

const ZERO = `
SELECT 'All accounts together do not come to zero: ' || pending || ' pending, ' || posted || ' posted.'
FROM (
  SELECT SUM(debits_pending - credits_pending) AS pending, SUM(debits_posted - credits_posted) AS posted FROM account
)
WHERE pending <> 0 OR posted <> 0`;

const BELOW_ZERO = `
SELECT 'The account ' || id || ' is below zero: ' || (credits_posted - debits_posted - debits_pending) || '.'
FROM account WHERE kind = 'customer' AND credits_posted - debits_posted - debits_pending < 0`;

const PENDING = `
WITH open AS (SELECT account_id, SUM(amount_nanos) AS nanos FROM hold WHERE state = 'held' GROUP BY account_id)
SELECT 'The account ' || id || ' has ' || debits_pending || ' pending, but its open holds are ' ||
  COALESCE(nanos, 0) || '.'
FROM account LEFT JOIN open ON account_id = id
WHERE kind = 'customer' AND debits_pending <> COALESCE(nanos, 0)`;

/** How a hold ended must be what its transfers say, once. After recovery freed one, it may be charged late. */
const HOLDS = `
WITH done AS (
  SELECT request_id, SUM(pending_nanos) AS pending, SUM(kind = 'hold') AS h, SUM(kind = 'settle') AS s,
    SUM(kind = 'void') AS v, SUM(kind = 'expire') AS x, SUM(kind = 'overage') AS o,
    SUM(iif(kind = 'settle', posted_nanos, 0)) AS charged, SUM(iif(kind = 'overage', posted_nanos, 0)) AS overage
  FROM transfer WHERE request_id <> '' GROUP BY request_id
)
SELECT 'The request ' || done.request_id || ' is ' || COALESCE(state, 'unknown') ||
  ', but its transfers say otherwise: ' || printf('h %d, s %d, v %d, x %d, o %d', h, s, v, x, o) || '.'
FROM done LEFT JOIN hold ON hold.request_id = done.request_id
WHERE hold.request_id IS NULL OR h <> 1
  OR pending <> iif(state = 'held', amount_nanos, 0) OR charged <> charged_nanos OR overage <> overage_nanos
  OR CASE state
    WHEN 'held' THEN s + v + x + o > 0
    WHEN 'settled' THEN s <> 1 OR v + x > recovered OR o > 1
    WHEN 'voided' THEN v <> 1 OR s + x + o > 0
    ELSE x <> 1 OR s + v + o > 0 END`;

const HELD_AMOUNTS = `
SELECT 'The hold of the request ' || hold.request_id || ' is ' || amount_nanos || ', but its transfer holds ' ||
  COALESCE(pending_nanos, 'nothing') || '.'
FROM hold LEFT JOIN transfer ON transfer.id = 'h:' || hold.request_id
WHERE transfer.id IS NULL OR pending_nanos <> amount_nanos OR debit_account <> hold.account_id`;

const USAGE = `
SELECT 'The request ' || COALESCE(hold.request_id, usage.request_id) || ' is ' || COALESCE(state, 'unknown') ||
  iif(usage.request_id IS NULL, ', but has no usage row.', ', but its usage row does not fit.')
FROM hold FULL JOIN usage ON usage.request_id = hold.request_id
WHERE hold.request_id IS NULL
  OR (usage.request_id IS NOT NULL) <> (state = 'settled' OR (state = 'voided' AND recovered = 0))
  OR usage.cost_nanos <> charged_nanos + overage_nanos OR usage.account_id <> hold.account_id`;

const BUDGETS = `
WITH spent AS (
  SELECT key_id, create_time_ms / 1000 AS second, -iif(state = 'held', amount_nanos, 0) AS pending,
    -charged_nanos AS spent FROM hold
), side AS (
  SELECT key_id, period, bucket, pending_nanos AS pending, spent_nanos AS spent FROM budget
  UNION ALL SELECT key_id, 'day', strftime('%Y-%m-%d', second, 'unixepoch'), pending, spent FROM spent
  UNION ALL SELECT key_id, 'month', strftime('%Y-%m', second, 'unixepoch'), pending, spent FROM spent
  UNION ALL SELECT key_id, 'total', '', pending, spent FROM spent
)
SELECT 'The counter of the key ' || key_id || ' (' || trim(period || ' ' || bucket) ||
  ') does not equal its requests: it is off by ' || printf('%d held and %d spent', SUM(pending), SUM(spent)) || '.'
FROM side GROUP BY key_id, period, bucket HAVING SUM(pending) <> 0 OR SUM(spent) <> 0`;

const DAY_SUMS = ["cost_nanos", ...TOKEN_COLUMNS];
const USAGE_DAYS = `
WITH side AS (
  SELECT day, account_id, key_id, model, request_count, ${DAY_SUMS.join(", ")} FROM usage_day
  UNION ALL SELECT day, account_id, key_id, model, -1, ${DAY_SUMS.map((column) => `-${column}`).join(", ")}
  FROM usage WHERE usage_source <> ${SOURCE_NONE}
)
SELECT 'The usage of ' || day || ' (account ' || account_id || ', key ' || key_id || ', model ' || model ||
  ') does not equal its requests.'
FROM side GROUP BY day, account_id, key_id, model
HAVING ${["request_count", ...DAY_SUMS].map((column) => `SUM(${column}) <> 0`).join(" OR ")}`;

const FILE = `SELECT 'The database file is damaged: ' || quick_check || '.' FROM pragma_quick_check
WHERE quick_check <> 'ok'`;

/** In the order in which a reader wants to know. */
export const CHECKS: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "accounts against transfers", sql: ACCOUNTS },
  { name: "sum of all accounts", sql: ZERO },
  { name: "accounts below zero", sql: BELOW_ZERO },
  { name: "pending against open holds", sql: PENDING },
  { name: "holds against transfers", sql: HOLDS },
  { name: "amounts of holds", sql: HELD_AMOUNTS },
  { name: "usage against settlements", sql: USAGE },
  { name: "budgets against requests", sql: BUDGETS },
  { name: "days against usage", sql: USAGE_DAYS },
  { name: "database file", sql: FILE },
];
