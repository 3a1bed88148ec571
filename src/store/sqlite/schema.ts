/** The tables, as steps from each version of the schema to the next. A step that was released never changes. */

export interface Migration {
  /** The version that it leads to, without gaps. The first makes a new database. */
  readonly version: number;
  readonly sql: string;
}

const ACCOUNTS = `
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('customer', 'operator')),
  name TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  budget_day_nanos INTEGER NOT NULL DEFAULT 0 CHECK (budget_day_nanos >= 0),
  budget_month_nanos INTEGER NOT NULL DEFAULT 0 CHECK (budget_month_nanos >= 0),
  budget_total_nanos INTEGER NOT NULL DEFAULT 0 CHECK (budget_total_nanos >= 0),
  request_cost_max_nanos INTEGER NOT NULL DEFAULT 0 CHECK (request_cost_max_nanos >= 0),
  debits_pending INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  debits_posted INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
  credits_pending INTEGER NOT NULL DEFAULT 0 CHECK (credits_pending >= 0),
  credits_posted INTEGER NOT NULL DEFAULT 0 CHECK (credits_posted >= 0),
  digest BLOB CHECK ((digest IS NULL) = (kind = 'operator')),
  CHECK (kind = 'operator' OR credits_posted - debits_posted - debits_pending >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO account (id, kind, name, create_time_ms) VALUES
  ('operator:grants', 'operator', 'Credit given', 0),
  ('operator:revenue', 'operator', 'Paid for requests', 0),
  ('operator:overage', 'operator', 'Cost above the holds', 0);
`;

/** Rows that never change: nothing of the program updates or deletes them, and a trigger refuses it to others. */
function appendOnly(table: string, rows: string): string {
  const refuse = (action: string): string => `
CREATE TRIGGER ${table}_${action} BEFORE ${action.toUpperCase()} ON ${table}
BEGIN SELECT RAISE(ABORT, '${rows} are append-only'); END;`;
  return `${refuse("update")}${refuse("delete")}\n`;
}

/**
 * The hot tables have whole numbers for keys, so that a new row goes to the end of its table, and no foreign keys: each
 * would cost a search for every row. The proof compares instead.
 */
const TRANSFERS = `
CREATE TABLE transfer (
  sequence INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('hold', 'settle', 'void', 'expire', 'overage', 'credit')),
  account_id TEXT NOT NULL,
  hold_sequence INTEGER NOT NULL,
  credit_id TEXT CHECK ((credit_id IS NULL) = (kind <> 'credit')),
  pending_nanos INTEGER NOT NULL,
  posted_nanos INTEGER NOT NULL CHECK (posted_nanos >= 0),
  create_time_ms INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  debit_account TEXT AS (
    CASE kind WHEN 'credit' THEN 'operator:grants' WHEN 'overage' THEN 'operator:overage' ELSE account_id END
  ) VIRTUAL,
  credit_account TEXT AS (iif(kind = 'credit', account_id, 'operator:revenue')) VIRTUAL
) STRICT;
CREATE INDEX transfer_account ON transfer (account_id);
CREATE UNIQUE INDEX transfer_credit ON transfer (credit_id) WHERE credit_id IS NOT NULL;
${appendOnly("transfer", "transfers")}`;

const TOKEN_COLUMNS = `
  input_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  image_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,`;

const REQUESTS = `
CREATE TABLE hold (
  sequence INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  node_id TEXT NOT NULL,
  wanted_nanos INTEGER NOT NULL CHECK (wanted_nanos >= 0),
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos BETWEEN 0 AND wanted_nanos),
  price BLOB NOT NULL,
  create_time_ms INTEGER NOT NULL,
  expire_time_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX hold_account ON hold (account_id);
${appendOnly("hold", "holds")}
CREATE TABLE open_hold (
  hold_sequence INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL,
  expire_time_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoint (
  hold_sequence INTEGER PRIMARY KEY,${TOKEN_COLUMNS}
  cost_nanos INTEGER NOT NULL CHECK (cost_nanos >= 0),
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE usage (
  hold_sequence INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  usage_source INTEGER NOT NULL,
  charged_nanos INTEGER NOT NULL CHECK (charged_nanos >= 0),
  overage_nanos INTEGER NOT NULL CHECK (overage_nanos >= 0),
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL,${TOKEN_COLUMNS}
  end_time_ms INTEGER NOT NULL
) STRICT;
${appendOnly("usage", "usage rows")}
CREATE TABLE release (
  hold_sequence INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('void', 'expire')),
  end_time_ms INTEGER NOT NULL
) STRICT;
${appendOnly("release", "releases")}
CREATE TABLE usage_day (
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  request_count INTEGER NOT NULL,${TOKEN_COLUMNS}
  cost_nanos INTEGER NOT NULL,
  PRIMARY KEY (day, account_id, key_id, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_day_account ON usage_day (account_id, day);

CREATE TABLE budget (
  owner TEXT NOT NULL CHECK (owner IN ('key', 'account')),
  owner_id TEXT NOT NULL,
  period TEXT NOT NULL CHECK (period IN ('day', 'month', 'total')),
  bucket TEXT NOT NULL,
  pending_nanos INTEGER NOT NULL CHECK (pending_nanos >= 0),
  spent_nanos INTEGER NOT NULL CHECK (spent_nanos >= 0),
  PRIMARY KEY (owner, owner_id, period, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE node (
  id TEXT PRIMARY KEY,
  lease_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
INSERT INTO probe (id, count) VALUES (1, 0);
`;

const KEYS = `
CREATE TABLE key (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  settings BLOB NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  previous_digest BLOB,
  previous_until_ms INTEGER,
  hint TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  revoke_time_ms INTEGER,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  row_digest BLOB NOT NULL
) STRICT;
CREATE INDEX key_previous_digest ON key (previous_digest) WHERE previous_digest IS NOT NULL;
CREATE INDEX key_time ON key (create_time_ms, id);
CREATE INDEX key_account ON key (account_id, create_time_ms, id);
`;

/** How each attempt of a request went. Null where only their number and the last upstream are known, as before. */
const ATTEMPT_LOG = "ALTER TABLE usage ADD COLUMN attempt_log TEXT";

/**
 * A transfer and the record that its hash proves are one row: a hold's has its terms, and one that ended a request its
 * usage. Readers find holds and usages in views. What two rows said is the transfer's, which the chain proves. One
 * check of the whole row, by its kind, costs less than one for each column.
 */
const ONE_ROW = `
ALTER TABLE transfer RENAME TO bare_transfer;
DROP INDEX transfer_account;
DROP INDEX transfer_credit;
DROP TRIGGER transfer_update;
DROP TRIGGER transfer_delete;
CREATE TABLE transfer (
  sequence INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT NOT NULL,
  hold_sequence INTEGER NOT NULL,
  credit_id TEXT,
  pending_nanos INTEGER NOT NULL,
  posted_nanos INTEGER NOT NULL CHECK (posted_nanos >= 0),
  create_time_ms INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  request_id TEXT,
  key_id TEXT,
  model TEXT,
  node_id TEXT,
  wanted_nanos INTEGER,
  price BLOB,
  expire_time_ms INTEGER,
  usage_source INTEGER,
  overage_nanos INTEGER CHECK (overage_nanos >= 0),
  upstream TEXT,
  attempts INTEGER,${TOKEN_COLUMNS.replaceAll(" NOT NULL", "")}
  attempt_log TEXT,
  reason TEXT,
  actor TEXT CHECK ((actor IS NULL) = (reason IS NULL)),
  CHECK (CASE kind
    WHEN 'hold' THEN request_id IS NOT NULL AND pending_nanos BETWEEN 0 AND wanted_nanos
      AND usage_source IS NULL AND credit_id IS NULL
    WHEN 'settle' THEN usage_source IS NOT NULL AND request_id IS NULL AND credit_id IS NULL
    WHEN 'void' THEN request_id IS NULL AND credit_id IS NULL
    WHEN 'credit' THEN credit_id IS NOT NULL AND request_id IS NULL AND usage_source IS NULL
    WHEN 'expire' THEN request_id IS NULL AND usage_source IS NULL AND credit_id IS NULL
    WHEN 'overage' THEN request_id IS NULL AND usage_source IS NULL AND credit_id IS NULL
    WHEN 'refund' THEN credit_id IS NOT NULL AND reason IS NOT NULL AND request_id IS NULL AND usage_source IS NULL
    WHEN 'debit' THEN credit_id IS NOT NULL AND reason IS NOT NULL AND request_id IS NULL AND usage_source IS NULL
    WHEN 'receivable' THEN credit_id IS NOT NULL AND reason IS NOT NULL AND request_id IS NULL
      AND usage_source IS NULL
    ELSE FALSE END)
) STRICT;

INSERT INTO transfer SELECT transfer.sequence, transfer.kind, transfer.account_id, transfer.hold_sequence, credit_id,
  pending_nanos, posted_nanos, transfer.create_time_ms, hash, request_id, key_id, model, node_id, wanted_nanos, price,
  expire_time_ms, usage_source, overage_nanos, upstream, attempts, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  attempt_log, NULL, NULL
FROM bare_transfer AS transfer LEFT JOIN hold ON hold.sequence = transfer.sequence
LEFT JOIN usage ON usage.hold_sequence = transfer.hold_sequence AND usage.sequence = transfer.sequence
ORDER BY transfer.sequence;
DROP TABLE bare_transfer;
DROP TABLE hold;
DROP TABLE usage;

CREATE INDEX transfer_account ON transfer (account_id);
CREATE UNIQUE INDEX transfer_credit ON transfer (credit_id, kind) WHERE credit_id IS NOT NULL;
CREATE INDEX transfer_correction ON transfer (account_id, kind, hold_sequence) WHERE reason IS NOT NULL;
CREATE UNIQUE INDEX transfer_request ON transfer (request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX transfer_usage ON transfer (hold_sequence) WHERE usage_source IS NOT NULL;
${appendOnly("transfer", "transfers")}
CREATE VIEW hold AS SELECT sequence, request_id, account_id, key_id, model, node_id, wanted_nanos,
  pending_nanos AS amount_nanos, price, create_time_ms, expire_time_ms FROM transfer WHERE request_id IS NOT NULL;
CREATE VIEW usage AS SELECT hold_sequence, sequence, usage_source, posted_nanos AS charged_nanos, overage_nanos,
  upstream, attempts, attempt_log, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens,
  output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  create_time_ms AS end_time_ms FROM transfer WHERE usage_source IS NOT NULL;
INSERT INTO account (id, kind, name, create_time_ms) VALUES
  ('operator:refunds', 'operator', 'Given back of requests', 0),
  ('operator:debits', 'operator', 'Taken back from accounts', 0),
  ('operator:receivables', 'operator', 'Debits that an account could not pay', 0);
ALTER TABLE usage_day ADD COLUMN refunded_nanos INTEGER NOT NULL DEFAULT 0;
`;

/** Nodes count their beats: a time of one machine's clock says nothing on another's, nor after that clock was set. */
const BEATS = `
DROP TABLE node;
CREATE TABLE node (id TEXT PRIMARY KEY, beats INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** The key that made a key. Null where an operator did, as for all before. */
const MAKERS = "ALTER TABLE key ADD COLUMN maker_id TEXT";

/** Since when an account is frozen, why, by whom, and whether its streams end. Null where it is not. */
const ACCOUNT_STATE = `
ALTER TABLE account ADD COLUMN frozen_time_ms INTEGER;
ALTER TABLE account ADD COLUMN freeze_reason TEXT;
ALTER TABLE account ADD COLUMN freeze_actor TEXT;
ALTER TABLE account ADD COLUMN freeze_ends_streams INTEGER;
`;

/** By which a witness knows its database, and what was lost of it and accepted. */
const IDENTITY = `
CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), database_id TEXT NOT NULL) STRICT;
INSERT INTO identity (id, database_id) VALUES (1, lower(hex(randomblob(16))));
${appendOnly("identity", "identities")}
CREATE TABLE accepted_loss (
  number INTEGER PRIMARY KEY,
  accept_time_ms INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  found TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT;
${appendOnly("accepted_loss", "accepted losses")}`;

/**
 * What the operator pays for a request; null where nobody knows, as for all before. A day sums it, and what was left of
 * the charges, over the requests where it is known.
 */
const OPERATOR_COSTS = `
ALTER TABLE transfer ADD COLUMN operator_cost_nanos INTEGER CHECK (operator_cost_nanos >= 0);
ALTER TABLE checkpoint ADD COLUMN operator_cost_nanos INTEGER;
ALTER TABLE usage_day ADD COLUMN operator_cost_nanos INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_day ADD COLUMN margin_nanos INTEGER NOT NULL DEFAULT 0;
DROP VIEW usage;
CREATE VIEW usage AS SELECT hold_sequence, sequence, usage_source, posted_nanos AS charged_nanos, overage_nanos,
  operator_cost_nanos, upstream, attempts, attempt_log, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  create_time_ms AS end_time_ms FROM transfer WHERE usage_source IS NOT NULL;
`;

/** The limits of all keys of an account together; those of its models as the settings' message. */
const ACCOUNT_LIMITS = `
ALTER TABLE account ADD COLUMN requests_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (requests_per_minute >= 0);
ALTER TABLE account ADD COLUMN tokens_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0);
ALTER TABLE account ADD COLUMN concurrency INTEGER NOT NULL DEFAULT 0 CHECK (concurrency >= 0);
ALTER TABLE account ADD COLUMN model_limits BLOB NOT NULL DEFAULT x'';
`;

/** What a key's children spent counts for the key as well, and for those that made it. */
const MAKERS_COUNT = `
WITH RECURSIVE line AS (
  SELECT id AS key_id, maker_id FROM key WHERE maker_id IS NOT NULL
  UNION SELECT line.key_id, key.maker_id FROM line JOIN key ON key.id = line.maker_id WHERE key.maker_id IS NOT NULL
)
INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos)
SELECT 'key', maker_id, period, bucket, SUM(pending_nanos), SUM(spent_nanos)
FROM line JOIN budget ON owner = 'key' AND owner_id = key_id GROUP BY maker_id, period, bucket
ON CONFLICT DO UPDATE SET pending_nanos = pending_nanos + excluded.pending_nanos,
  spent_nanos = spent_nanos + excluded.spent_nanos;
`;

/** Version 1 was never released: a database of it is refused. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 2, sql: ACCOUNTS + TRANSFERS + REQUESTS + KEYS },
  { version: 3, sql: ATTEMPT_LOG },
  { version: 4, sql: ONE_ROW },
  { version: 5, sql: BEATS },
  { version: 6, sql: MAKERS },
  { version: 7, sql: ACCOUNT_STATE },
  { version: 8, sql: IDENTITY },
  { version: 9, sql: OPERATOR_COSTS },
  { version: 10, sql: ACCOUNT_LIMITS },
  { version: 11, sql: MAKERS_COUNT },
];
