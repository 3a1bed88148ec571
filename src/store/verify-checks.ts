/** The checks of a proof, each a query whose rows are sentences on what does not hold. */
import { SOURCE_NONE } from "../ledger/rows.js";
import { TOKEN_COLUMNS } from "./token-columns.js";

/** What a row says, less what its sources say: one pass over both, because a full join of sums has no index. */
const ACCOUNTS = `
WITH side AS (
  SELECT id, debits_pending AS dp, debits_posted AS dq, credits_posted AS cq, debited_nanos AS d FROM account
  UNION ALL SELECT account_id, -iif(lease_id IS NULL, pending_nanos, 0),
    -iif(kind IN ('settle', 'debit'), posted_nanos, 0),
    -iif(kind IN ('credit', 'refund'), posted_nanos, 0), -iif(kind = 'debit', posted_nanos, 0) FROM transfer
)
SELECT 'The account ' || id || ' does not equal its transfers: it is off by ' ||
  printf('%d pending and %d posted debits, %d posted credits and %d debited', SUM(dp), SUM(dq), SUM(cq), SUM(d)) || '.'
FROM side GROUP BY id HAVING SUM(dp) <> 0 OR SUM(dq) <> 0 OR SUM(cq) <> 0 OR SUM(d) <> 0`;

/** A transfer of an account that is not there is in no chain. */
const OWNERS = `
SELECT 'The account ' || account_id || ' has transfers, but is not there.'
FROM (SELECT DISTINCT account_id FROM transfer WHERE account_id NOT IN (SELECT id FROM account))`;

const TOTALS = `
WITH side AS (
  SELECT kind, nanos FROM operator_total
  UNION ALL SELECT iif(kind IN ('credit', 'refund'), 'granted', kind), -posted_nanos FROM transfer
    WHERE kind IN ('credit', 'refund', 'overage', 'receivable')
)
SELECT 'The operator''s total ' || kind || ' does not equal the transfers: it is off by ' || SUM(nanos) || '.'
FROM side GROUP BY kind HAVING SUM(nanos) <> 0`;

const BELOW_ZERO = `
SELECT 'The account ' || id || ' is below zero: ' || (credits_posted - debits_posted - debits_pending) || '.'
FROM account WHERE credits_posted - debits_posted - debits_pending < 0`;

/** One process writes all, so that no place is left out. */
const PLACES = `
SELECT 'The transfer ' || sequence || ' follows transfer ' || before || ': those between are gone.'
FROM (SELECT sequence, lag(sequence, 1, 0) OVER (ORDER BY sequence) AS before FROM transfer)
WHERE sequence <> before + 1`;

/** Which holds are open is kept apart, so that each is found at once: those without a usage and without a release. */
const OPEN = `
SELECT 'The hold of the request ' || COALESCE(request_id, '?') || ' is ' || iif(usage.hold_sequence IS NULL AND
  release.hold_sequence IS NULL, 'open', 'not open') || ', but the list of open holds says otherwise.'
FROM hold FULL JOIN open_hold ON open_hold.hold_sequence = hold.sequence
LEFT JOIN usage ON usage.hold_sequence = hold.sequence LEFT JOIN release ON release.hold_sequence = hold.sequence
WHERE hold.sequence IS NULL
  OR (open_hold.hold_sequence IS NULL) <> (usage.hold_sequence IS NOT NULL OR release.hold_sequence IS NOT NULL)
  OR (open_hold.hold_sequence IS NOT NULL
    AND (open_hold.node_id <> hold.node_id OR open_hold.expire_time_ms <> hold.expire_time_ms))`;

const PENDING = `
WITH open AS (
  SELECT account_id, SUM(nanos) AS nanos FROM (
    SELECT account_id, amount_nanos AS nanos FROM open_hold JOIN hold ON hold.sequence = hold_sequence
    UNION ALL SELECT account_id, rest_nanos FROM lease
  ) AS part GROUP BY account_id
)
SELECT 'The account ' || id || ' has ' || debits_pending || ' pending, but its open holds and leases are ' ||
  COALESCE(nanos, 0) || '.'
FROM account LEFT JOIN open ON account_id = id
WHERE debits_pending <> COALESCE(nanos, 0)`;

const STATE = `CASE
    WHEN usage.hold_sequence IS NOT NULL THEN iif(usage_source = ${SOURCE_NONE}, 'voided', 'settled')
    WHEN release.kind IS NOT NULL THEN iif(release.kind = 'void', 'voided', 'expired')
    ELSE 'held' END`;

/** How a hold ended must be what its transfers say, once. After recovery freed one, it may be charged late. */
const HOLDS = `
WITH done AS (
  SELECT hold_sequence, SUM(pending_nanos) AS pending, SUM(kind = 'hold') AS h, SUM(kind = 'settle') AS s,
    SUM(kind = 'void') AS v, SUM(kind = 'expire') AS x, SUM(kind = 'overage') AS o,
    SUM(iif(kind = 'settle', posted_nanos, 0)) AS charged, SUM(iif(kind = 'overage', posted_nanos, 0)) AS overage
  FROM transfer WHERE credit_id IS NULL GROUP BY hold_sequence
)
SELECT 'The request ' || COALESCE(request_id, '?') || ' is ' || iif(hold.sequence IS NULL, 'unknown', ${STATE}) ||
  ', but its transfers say otherwise: ' || printf('h %d, s %d, v %d, x %d, o %d of the hold %d', h, s, v, x, o,
  done.hold_sequence) || '.'
FROM done LEFT JOIN hold ON hold.sequence = done.hold_sequence
LEFT JOIN usage ON usage.hold_sequence = done.hold_sequence
LEFT JOIN release ON release.hold_sequence = done.hold_sequence
WHERE hold.sequence IS NULL OR h <> 1
  OR pending <> iif(${STATE} = 'held', amount_nanos, 0)
  OR charged <> COALESCE(charged_nanos, 0) OR overage <> COALESCE(overage_nanos, 0)
  OR s <> (${STATE} = 'settled') OR o > (${STATE} = 'settled')
  OR v <> (COALESCE(release.kind = 'void', 0) OR (${STATE} = 'voided' AND release.kind IS NULL))
  OR x <> COALESCE(release.kind = 'expire', 0)`;

/** A lease has what it was granted, less what holds took of it, until it is returned. */
const LEASES = `
WITH side AS (
  SELECT id, rest_nanos AS rest, 1 AS open FROM lease
  UNION ALL SELECT credit_id, -pending_nanos, iif(kind = 'lease', -1, 1) FROM transfer
    WHERE kind IN ('lease', 'return')
  UNION ALL SELECT lease_id, pending_nanos, 0 FROM transfer WHERE lease_id IS NOT NULL
)
SELECT 'The lease ' || id || ' does not equal its transfers.' FROM side GROUP BY id
HAVING SUM(rest) <> 0 OR SUM(open) <> 0
UNION ALL SELECT 'The lease ' || lease.id || ' is not what its transfer says.' FROM lease
LEFT JOIN transfer ON credit_id = lease.id AND kind = 'lease'
WHERE transfer.sequence IS NULL OR transfer.account_id <> lease.account_id OR transfer.node_id <> lease.node_id
  OR transfer.key_id <> lease.key_id OR transfer.create_time_ms <> lease.create_time_ms`;

/** What a transfer's hash does not cover must not be there: each row carries its own record or none. */
const RECORDS = `
SELECT 'The transfer ' || sequence || ' carries a part of a record that is not its own.' FROM transfer
WHERE (reason IS NULL AND credit_id IS NOT NULL AND kind NOT IN ('credit', 'lease', 'return'))
  OR (reason IS NOT NULL AND credit_id IS NULL)
  OR (request_id IS NULL AND coalesce(model, wanted_nanos, price, expire_time_ms, lease_id) IS NOT NULL)
  OR (request_id IS NULL AND kind NOT IN ('lease', 'return') AND coalesce(key_id, node_id) IS NOT NULL)
  OR (usage_source IS NULL
    AND coalesce(overage_nanos, operator_cost_nanos, upstream, attempts, attempt_log, ${TOKEN_COLUMNS.join(", ")})
      IS NOT NULL)`;

/** A refund is of a request that was charged, goes to who paid, and is in all at most what was charged. */
const REFUNDS = `
SELECT 'The refunds of the request ' || COALESCE(request_id, '?') || ' come to ' || refunded ||
  ', but it was charged ' || COALESCE(charged_nanos, 0) || ' on the account ' || COALESCE(hold.account_id, '?') || '.'
FROM (SELECT hold_sequence, account_id, SUM(posted_nanos) AS refunded FROM transfer
  WHERE kind = 'refund' GROUP BY hold_sequence, account_id) AS refund
LEFT JOIN hold ON hold.sequence = refund.hold_sequence LEFT JOIN usage ON usage.hold_sequence = refund.hold_sequence
WHERE refunded > COALESCE(charged_nanos, 0) OR hold.account_id IS NULL OR hold.account_id <> refund.account_id`;

const RELEASES = `
SELECT 'The release of the hold ' || release.hold_sequence || ' does not fit the transfer ' || release.sequence || '.'
FROM release LEFT JOIN transfer ON transfer.sequence = release.sequence
  AND transfer.hold_sequence = release.hold_sequence AND transfer.kind = release.kind
WHERE transfer.sequence IS NULL OR transfer.create_time_ms <> release.end_time_ms`;

/** A key's counter is of all requests of the key, and of the keys that it made, and that those made. */
const BUDGETS = `
WITH RECURSIVE line AS (
  SELECT id AS key_id, maker_id FROM key WHERE maker_id IS NOT NULL
  UNION SELECT line.key_id, key.maker_id FROM line JOIN key ON key.id = line.maker_id WHERE key.maker_id IS NOT NULL
), spent AS (
  SELECT key_id, account_id, hold.create_time_ms / 1000 AS second,
    -iif(open_hold.hold_sequence IS NULL, 0, amount_nanos) AS pending, -COALESCE(charged_nanos, 0) AS spent
  FROM hold LEFT JOIN open_hold ON open_hold.hold_sequence = hold.sequence
  LEFT JOIN usage ON usage.hold_sequence = hold.sequence
  UNION ALL SELECT key_id, account_id, create_time_ms / 1000, -rest_nanos, 0 FROM lease
), owned AS (
  SELECT key_id AS owner_id, second, pending, spent FROM spent
  UNION ALL SELECT maker_id, second, pending, spent FROM spent JOIN line USING (key_id)
), side AS (
  SELECT owner, owner_id, period, bucket, pending_nanos AS pending, spent_nanos AS spent FROM budget
  UNION ALL SELECT 'key', owner_id, 'day', strftime('%Y-%m-%d', second, 'unixepoch'), pending, spent FROM owned
  UNION ALL SELECT 'key', owner_id, 'month', strftime('%Y-%m', second, 'unixepoch'), pending, spent FROM owned
  UNION ALL SELECT 'key', owner_id, 'total', '', pending, spent FROM owned
  UNION ALL SELECT 'account', account_id, 'day', strftime('%Y-%m-%d', second, 'unixepoch'), pending, spent FROM spent
  UNION ALL SELECT 'account', account_id, 'month', strftime('%Y-%m', second, 'unixepoch'), pending, spent FROM spent
)
SELECT 'The counter of the ' || owner || ' ' || owner_id || ' (' || trim(period || ' ' || bucket) ||
  ') does not equal its requests: it is off by ' || printf('%d held and %d spent', SUM(pending), SUM(spent)) || '.'
FROM side GROUP BY owner, owner_id, period, bucket HAVING SUM(pending) <> 0 OR SUM(spent) <> 0`;

const DAY_SUMS = ["cost_nanos", "refunded_nanos", "operator_cost_nanos", "margin_nanos", ...TOKEN_COLUMNS];
const NO_TOKENS = TOKEN_COLUMNS.map(() => "0").join(", ");
const USAGE_DAYS = `
WITH side AS (
  SELECT day, account_id, key_id, model, request_count, ${DAY_SUMS.join(", ")} FROM usage_day
  UNION ALL SELECT strftime('%Y-%m-%d', create_time_ms / 1000, 'unixepoch'), account_id, key_id, model, -1,
    -charged_nanos - overage_nanos, 0, 0, 0, ${TOKEN_COLUMNS.map((column) => `-${column}`).join(", ")}
  FROM usage JOIN hold ON hold.sequence = hold_sequence WHERE usage_source <> ${SOURCE_NONE}
  UNION ALL SELECT strftime('%Y-%m-%d', create_time_ms / 1000, 'unixepoch'), account_id, key_id, model, 0, 0, 0,
    -operator_cost_nanos, operator_cost_nanos - charged_nanos, ${NO_TOKENS}
  FROM usage JOIN hold ON hold.sequence = hold_sequence WHERE operator_cost_nanos IS NOT NULL
  UNION ALL SELECT strftime('%Y-%m-%d', hold.create_time_ms / 1000, 'unixepoch'), hold.account_id, hold.key_id,
    hold.model, 0, 0, -refund.posted_nanos, 0, 0, ${NO_TOKENS}
  FROM transfer AS refund JOIN hold ON hold.sequence = refund.hold_sequence WHERE refund.kind = 'refund'
)
SELECT 'The usage of ' || day || ' (account ' || account_id || ', key ' || key_id || ', model ' || model ||
  ') does not equal its requests.'
FROM side GROUP BY day, account_id, key_id, model
HAVING ${["request_count", ...DAY_SUMS].map((column) => `SUM(${column}) <> 0`).join(" OR ")}`;

/** Without it a witness does not know its database. */
const IDENTITY = `SELECT 'The database does not say which one it is.'
WHERE (SELECT COUNT(*) FROM identity WHERE length(database_id) = 32) <> 1`;

/** Also what the indexes say: a request that its index does not find could be held twice. */
const FILE = `SELECT 'The database file is damaged: ' || integrity_check || '.' FROM pragma_integrity_check
WHERE integrity_check <> 'ok'`;

/** In the order in which a reader wants to know. */
export const CHECKS: readonly { readonly name: string; readonly sql: string }[] = [
  { name: "places of transfers", sql: PLACES },
  { name: "accounts against transfers", sql: ACCOUNTS },
  { name: "accounts of transfers", sql: OWNERS },
  { name: "totals against transfers", sql: TOTALS },
  { name: "accounts below zero", sql: BELOW_ZERO },
  { name: "open holds", sql: OPEN },
  { name: "pending against open holds and leases", sql: PENDING },
  { name: "leases against transfers", sql: LEASES },
  { name: "holds against transfers", sql: HOLDS },
  { name: "records of transfers", sql: RECORDS },
  { name: "refunds against charges", sql: REFUNDS },
  { name: "releases against transfers", sql: RELEASES },
  { name: "budgets against requests", sql: BUDGETS },
  { name: "days against usage", sql: USAGE_DAYS },
  { name: "identity", sql: IDENTITY },
  { name: "database file", sql: FILE },
];
