/**
 * The checks of a proof, each a query whose rows are sentences on what does not hold. One spelling serves every driver;
 * a moment's day and month are theirs.
 */
import { SOURCE_NONE } from "../ledger/rows.js";
import { TOKEN_COLUMNS } from "./token-columns.js";

/** How many sentences a report holds at most, and how many one check adds. */
export const PROBLEMS_MAX = 100;
export const PROBLEMS_PER_CHECK_MAX = 20;

/** What a row says, less what its sources say: one pass over both, because a full join of sums has no index. */
const ACCOUNTS = `
WITH side AS (
  SELECT id, debits_pending AS dp, debits_posted AS dq, credits_posted AS cq, debited_nanos AS d FROM account
  UNION ALL SELECT account_id, CASE WHEN lease_id IS NULL THEN -pending_nanos ELSE 0 END,
    CASE WHEN kind IN ('settle', 'debit') THEN -posted_nanos ELSE 0 END,
    CASE WHEN kind IN ('credit', 'refund') THEN -posted_nanos ELSE 0 END,
    CASE kind WHEN 'debit' THEN -posted_nanos ELSE 0 END FROM transfer
  UNION ALL SELECT account_id, 0, -charged_nanos, 0, 0 FROM archive_day
)
SELECT 'The account ' || id || ' does not equal its transfers: it is off by ' || SUM(dp) || ' pending and ' ||
  SUM(dq) || ' posted debits, ' || SUM(cq) || ' posted credits and ' || SUM(d) || ' debited.'
FROM side GROUP BY id HAVING SUM(dp) <> 0 OR SUM(dq) <> 0 OR SUM(cq) <> 0 OR SUM(d) <> 0`;

/** A transfer of an account that is not there is in no chain. */
const OWNERS = `
SELECT DISTINCT 'The account ' || account_id || ' has transfers, but is not there.'
FROM transfer WHERE account_id NOT IN (SELECT id FROM account)`;

/** The chain goes as far as the account says, and no further. */
const ENDS = `
SELECT 'The account ' || id || ' says that its last transfer is number ' || chain_sequence ||
  ': its chain ends otherwise.'
FROM account LEFT JOIN transfer ON transfer.account_id = account.id AND transfer.account_sequence = chain_sequence
WHERE (chain_sequence > 0 AND (hash IS NULL OR hash <> chain_hash))
  OR EXISTS (SELECT 1 FROM transfer AS later WHERE later.account_id = account.id
    AND later.account_sequence > chain_sequence)`;

const TOTALS = `
WITH side AS (
  SELECT kind, nanos FROM operator_total
  UNION ALL SELECT CASE WHEN kind IN ('credit', 'refund') THEN 'granted' ELSE kind END, -posted_nanos FROM transfer
    WHERE kind IN ('credit', 'refund', 'overage', 'receivable')
  UNION ALL SELECT 'overage', charged_nanos - cost_nanos FROM archive_day
)
SELECT 'The operator''s total ' || kind || ' does not equal the transfers: it is off by ' || SUM(nanos) || '.'
FROM side GROUP BY kind HAVING SUM(nanos) <> 0`;

const BELOW_ZERO = `
SELECT 'The account ' || id || ' is below zero: ' || (credits_posted - debits_posted - debits_pending) || '.'
FROM account WHERE credits_posted - debits_posted - debits_pending < 0`;

/** Which holds are open is kept apart, so that each is found at once: those without a usage and without a release. */
const OPEN = `
SELECT 'The hold of the request ' || COALESCE(request_id, '?') || ' is ' || CASE WHEN usage.hold_sequence IS NULL AND
  release.hold_sequence IS NULL THEN 'open' ELSE 'not open' END || ', but the list of open holds says otherwise.'
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
    WHEN usage.hold_sequence IS NOT NULL THEN (CASE usage_source WHEN ${SOURCE_NONE} THEN 'voided' ELSE 'settled' END)
    WHEN release.kind IS NOT NULL THEN (CASE release.kind WHEN 'void' THEN 'voided' ELSE 'expired' END)
    ELSE 'held' END`;

/** How a hold ended must be what its transfers say, once. After recovery freed one, it may be charged late. */
const HOLDS = `
WITH done AS (
  SELECT hold_sequence, SUM(pending_nanos) AS pending, COUNT(CASE kind WHEN 'hold' THEN 1 END) AS h,
    COUNT(CASE kind WHEN 'settle' THEN 1 END) AS s, COUNT(CASE kind WHEN 'void' THEN 1 END) AS v,
    COUNT(CASE kind WHEN 'expire' THEN 1 END) AS x, COUNT(CASE kind WHEN 'overage' THEN 1 END) AS o,
    SUM(CASE kind WHEN 'settle' THEN posted_nanos ELSE 0 END) AS charged,
    SUM(CASE kind WHEN 'overage' THEN posted_nanos ELSE 0 END) AS overage
  FROM transfer WHERE credit_id IS NULL GROUP BY hold_sequence
), ended AS (
  SELECT done.*, hold.sequence, request_id, amount_nanos, charged_nanos, overage_nanos, release.kind AS release_kind,
    ${STATE} AS state
  FROM done LEFT JOIN hold ON hold.sequence = done.hold_sequence
  LEFT JOIN usage ON usage.hold_sequence = done.hold_sequence
  LEFT JOIN release ON release.hold_sequence = done.hold_sequence
)
SELECT 'The request ' || COALESCE(request_id, '?') || ' is ' ||
  CASE WHEN sequence IS NULL THEN 'unknown' ELSE state END ||
  ', but its transfers say otherwise: h ' || h || ', s ' || s || ', v ' || v || ', x ' || x || ', o ' || o ||
  ' of the hold ' || hold_sequence || '.'
FROM ended
WHERE sequence IS NULL OR h <> 1
  OR pending <> CASE state WHEN 'held' THEN amount_nanos ELSE 0 END
  OR charged <> COALESCE(charged_nanos, 0) OR overage <> COALESCE(overage_nanos, 0)
  OR s <> CASE state WHEN 'settled' THEN 1 ELSE 0 END OR o > CASE state WHEN 'settled' THEN 1 ELSE 0 END
  OR v <> CASE WHEN release_kind = 'void' OR (state = 'voided' AND release_kind IS NULL) THEN 1 ELSE 0 END
  OR x <> CASE release_kind WHEN 'expire' THEN 1 ELSE 0 END`;

function anyOf(columns: readonly string[]): string {
  return `(${columns.map((column) => `${column} IS NOT NULL`).join(" OR ")})`;
}

/** A lease has what it was granted, less what holds took of it, until it is returned. */
const LEASES = `
WITH side AS (
  SELECT id, rest_nanos AS rest, 1 AS open FROM lease
  UNION ALL SELECT credit_id, -pending_nanos, CASE kind WHEN 'lease' THEN -1 ELSE 1 END FROM transfer
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
  OR (request_id IS NULL AND ${anyOf(["model", "wanted_nanos", "price", "expire_time_ms", "lease_id"])})
  OR (request_id IS NULL AND kind NOT IN ('lease', 'return') AND ${anyOf(["key_id", "node_id"])})
  OR (usage_source IS NULL AND ${anyOf([
    "overage_nanos",
    "operator_cost_nanos",
    "upstream",
    "attempts",
    "attempt_log",
    "meters",
    ...TOKEN_COLUMNS,
  ])})`;

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
const budgets = ({ day, month }: SqlDialect): string => `
WITH RECURSIVE line AS (
  SELECT id AS key_id, maker_id FROM key WHERE maker_id IS NOT NULL
  UNION SELECT line.key_id, key.maker_id FROM line JOIN key ON key.id = line.maker_id WHERE key.maker_id IS NOT NULL
), spent AS (
  SELECT key_id, account_id, ${day("hold.create_time_ms")} AS day, ${month("hold.create_time_ms")} AS month,
    CASE WHEN open_hold.hold_sequence IS NULL THEN 0 ELSE -amount_nanos END AS pending,
    -COALESCE(charged_nanos, 0) AS spent
  FROM hold LEFT JOIN open_hold ON open_hold.hold_sequence = hold.sequence
  LEFT JOIN usage ON usage.hold_sequence = hold.sequence
  UNION ALL SELECT key_id, account_id, ${day("create_time_ms")}, ${month("create_time_ms")}, -rest_nanos, 0 FROM lease
  UNION ALL SELECT key_id, account_id, day, substr(day, 1, 7), 0, -charged_nanos FROM archive_day
), owned AS (
  SELECT key_id AS owner_id, day, month, pending, spent FROM spent
  UNION ALL SELECT maker_id, day, month, pending, spent FROM spent JOIN line USING (key_id)
), side AS (
  SELECT owner, owner_id, period, bucket, pending_nanos AS pending, spent_nanos AS spent FROM budget
  UNION ALL SELECT 'key', owner_id, 'day', day, pending, spent FROM owned
  UNION ALL SELECT 'key', owner_id, 'month', month, pending, spent FROM owned
  UNION ALL SELECT 'key', owner_id, 'total', '', pending, spent FROM owned
  UNION ALL SELECT 'account', account_id, 'day', day, pending, spent FROM spent
  UNION ALL SELECT 'account', account_id, 'month', month, pending, spent FROM spent
)
SELECT 'The counter of the ' || owner || ' ' || owner_id || ' (' || trim(period || ' ' || bucket) ||
  ') does not equal its requests: it is off by ' || SUM(pending) || ' held and ' || SUM(spent) || ' spent.'
FROM side GROUP BY owner, owner_id, period, bucket HAVING SUM(pending) <> 0 OR SUM(spent) <> 0`;

const DAY_SUMS = ["cost_nanos", "refunded_nanos", "operator_cost_nanos", "margin_nanos", ...TOKEN_COLUMNS];
const NO_TOKENS = TOKEN_COLUMNS.map(() => "0").join(", ");
const usageDays = ({ day }: SqlDialect): string => `
WITH side AS (
  SELECT day, account_id, key_id, model, request_count, ${DAY_SUMS.join(", ")} FROM usage_day
  UNION ALL SELECT ${day("hold.create_time_ms")}, account_id, key_id, model, -1,
    -charged_nanos - overage_nanos, 0, 0, 0, ${TOKEN_COLUMNS.map((column) => `-${column}`).join(", ")}
  FROM usage JOIN hold ON hold.sequence = hold_sequence WHERE usage_source <> ${SOURCE_NONE}
  UNION ALL SELECT ${day("hold.create_time_ms")}, account_id, key_id, model, 0, 0, 0,
    -operator_cost_nanos, operator_cost_nanos - charged_nanos, ${NO_TOKENS}
  FROM usage JOIN hold ON hold.sequence = hold_sequence WHERE operator_cost_nanos IS NOT NULL
  UNION ALL SELECT ${day("hold.create_time_ms")}, hold.account_id, hold.key_id,
    hold.model, 0, 0, -refund.posted_nanos, 0, 0, ${NO_TOKENS}
  FROM transfer AS refund JOIN hold ON hold.sequence = refund.hold_sequence WHERE refund.kind = 'refund'
  UNION ALL SELECT day, account_id, key_id, model, -request_count, -cost_nanos, 0, -operator_cost_nanos,
    -margin_nanos, ${TOKEN_COLUMNS.map((column) => `-${column}`).join(", ")} FROM archive_day
)
SELECT 'The usage of ' || day || ' (account ' || account_id || ', key ' || key_id || ', model ' || model ||
  ') does not equal its requests.'
FROM side GROUP BY day, account_id, key_id, model
HAVING ${["request_count", ...DAY_SUMS].map((column) => `SUM(${column}) <> 0`).join(" OR ")}`;

const dayMeters = ({ day, eachMeter }: SqlDialect): string => `
WITH side AS (
  SELECT day, account_id, key_id, model, unit, variant, quantity FROM usage_day_meter
  UNION ALL SELECT ${day("hold.create_time_ms")}, account_id, key_id, model,
    ${METER.unit}, ${METER.variant}, -${METER.quantity}
  FROM usage JOIN hold ON hold.sequence = hold_sequence, ${eachMeter("usage.meters")}
  WHERE usage_source <> ${SOURCE_NONE}
  UNION ALL SELECT day, account_id, key_id, model, unit, variant, -quantity FROM archive_day_meter
)
SELECT 'The ' || unit || ' of ' || day || ' (account ' || account_id || ', key ' || key_id || ', model ' || model ||
  ') does not equal its requests.'
FROM side GROUP BY day, account_id, key_id, model, unit, variant HAVING SUM(quantity) <> 0`;

/** Without it a witness does not know its database. */
const IDENTITY = `SELECT 'The database does not say which one it is.'
WHERE (SELECT COUNT(*) FROM identity WHERE length(database_id) = 32) <> 1`;

/** A record that tells of money names its transfer, which is there, and of the same account. */
const AUDITED = `
SELECT 'The audit record ' || audit_event.sequence || ' names the transfer ' || transfer_id || ', which is not there.'
FROM audit_event LEFT JOIN transfer ON credit_id = substr(transfer_id, 3) AND transfer.account_id =
  audit_event.account_id AND kind = CASE substr(transfer_id, 1, 2)
    WHEN 'c:' THEN 'credit' WHEN 'r:' THEN 'refund' WHEN 'd:' THEN 'debit' END
WHERE transfer_id <> '' AND transfer.sequence IS NULL`;

/** What a booking of a payment says was done is one transfer by its id; what the account lacked is told beside it. */
const BOOKINGS = `
WITH moved AS (
  SELECT credit_id, account_id, SUM(CASE kind WHEN 'credit' THEN posted_nanos ELSE 0 END) AS credited,
    SUM(CASE kind WHEN 'debit' THEN posted_nanos ELSE 0 END) AS debited,
    SUM(CASE kind WHEN 'receivable' THEN posted_nanos ELSE 0 END) AS receivable
  FROM transfer WHERE kind IN ('credit', 'debit', 'receivable')
    AND credit_id IN (SELECT transfer_id FROM payment_booking) GROUP BY credit_id, account_id
)
SELECT 'The booking ' || transfer_id || ' of a payment does not equal its transfers.'
FROM payment_booking JOIN payment ON payment.id = payment_id
LEFT JOIN moved ON credit_id = transfer_id AND moved.account_id = payment.account_id
WHERE done_time_ms IS NOT NULL AND CASE payment_booking.kind
  WHEN 'take' THEN COALESCE(credited, 0) <> 0 OR COALESCE(receivable, 0) <> payment_booking.receivable_nanos
    OR COALESCE(debited, 0) <> payment_booking.amount_nanos - payment_booking.receivable_nanos
  ELSE COALESCE(credited, 0) <> payment_booking.amount_nanos - payment_booking.receivable_nanos
    OR COALESCE(debited, 0) + COALESCE(receivable, 0) <> 0 END`;

/** What a payment says was booked of it is what its bookings add up to. */
const PAYMENTS = `
WITH side AS (
  SELECT id, credited_nanos AS credited, taken_nanos AS taken, receivable_nanos AS receivable FROM payment
  UNION ALL SELECT payment_id, CASE kind WHEN 'credit' THEN -amount_nanos ELSE 0 END,
    CASE kind WHEN 'take' THEN -amount_nanos WHEN 'return' THEN amount_nanos ELSE 0 END,
    CASE kind WHEN 'take' THEN -receivable_nanos WHEN 'return' THEN receivable_nanos ELSE 0 END
  FROM payment_booking WHERE done_time_ms IS NOT NULL
)
SELECT 'The payment ' || id || ' does not equal its bookings.' FROM side GROUP BY id
HAVING SUM(credited) <> 0 OR SUM(taken) <> 0 OR SUM(receivable) <> 0`;

/** Of the places that are archived each transfer is gone and counted, or was kept and is there. */
const ARCHIVED = `
SELECT 'The transfer ' || archive_kept.sequence || ' was kept by the archive, and is not there.'
FROM archive_kept LEFT JOIN transfer ON transfer.sequence = archive_kept.sequence
  AND transfer.account_id = archive_kept.account_id
LEFT JOIN archive_account ON archive_account.account_id = archive_kept.account_id
WHERE transfer.sequence IS NULL OR archive_account.account_sequence IS NULL
  OR transfer.account_sequence > archive_account.account_sequence
UNION ALL SELECT 'The archive of the account ' || account_id || ' ends at number ' || account_sequence || ', but ' ||
  transfer_count || ' transfers are gone and ' || kept || ' were kept.'
FROM (SELECT account_id, account_sequence, transfer_count, (SELECT COUNT(*) FROM archive_kept
  WHERE archive_kept.account_id = archive_account.account_id) AS kept FROM archive_account) AS counted
WHERE account_sequence <> transfer_count + kept
UNION ALL SELECT 'The archive of the account ' || account_id || ' ends at number ' || account_sequence ||
  ', which is not the last of its chain: ' || chain_sequence || '.'
FROM archive_account JOIN account ON account.id = account_id WHERE account_sequence >= chain_sequence
UNION ALL SELECT 'The account ' || account_id || ' has an archive, but is not there.'
FROM archive_account WHERE account_id NOT IN (SELECT id FROM account)
UNION ALL SELECT 'The archives up to number ' || max(number) || ' are ' || count(*) || ': some are gone.'
FROM archive HAVING max(number) <> count(*)
UNION ALL SELECT 'Transfers were archived, but no archive says so.'
WHERE EXISTS (SELECT 1 FROM archive_account) AND NOT EXISTS (SELECT 1 FROM archive)`;

/** What the databases spell in ways of their own: the UTC day and month of a moment in milliseconds, and lists. */
export interface SqlDialect {
  readonly day: (timeMs: string) => string;
  readonly month: (timeMs: string) => string;
  /** The meters of a column as rows of `meter`, each with a `value`; none where the column is null. */
  readonly eachMeter: (column: string) => string;
}

/** What a row of `eachMeter` says. */
export const METER = {
  unit: "meter.value->>0",
  variant: "meter.value->>1",
  quantity: "CAST(meter.value->>2 AS bigint)",
} as const;

export interface Check {
  readonly name: string;
  readonly sql: string;
}

/** In the order in which a reader wants to know. */
export function checks(moments: SqlDialect): readonly Check[] {
  return [
    { name: "ends of chains", sql: ENDS },
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
    { name: "budgets against requests", sql: budgets(moments) },
    { name: "days against usage", sql: usageDays(moments) },
    { name: "meters of days against usage", sql: dayMeters(moments) },
    { name: "identity", sql: IDENTITY },
    { name: "transfers of the audit log", sql: AUDITED },
    { name: "bookings of payments against transfers", sql: BOOKINGS },
    { name: "payments against bookings", sql: PAYMENTS },
    { name: "archived places", sql: ARCHIVED },
  ];
}
