/** The tables, as steps from each version of the schema to the next. A step that was released never changes. */

export interface Migration {
  /** The version that it leads to, from 1, without gaps. */
  readonly version: number;
  readonly sql: string;
}

const ACCOUNTS = `
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('customer', 'operator')),
  name TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  debits_pending INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  debits_posted INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
  credits_pending INTEGER NOT NULL DEFAULT 0 CHECK (credits_pending >= 0),
  credits_posted INTEGER NOT NULL DEFAULT 0 CHECK (credits_posted >= 0),
  CHECK (kind = 'operator' OR credits_posted - debits_posted - debits_pending >= 0)
) STRICT, WITHOUT ROWID;

INSERT INTO account (id, kind, name, create_time_ms) VALUES
  ('operator:grants', 'operator', 'Credit given', 0),
  ('operator:revenue', 'operator', 'Paid for requests', 0),
  ('operator:overage', 'operator', 'Cost above the holds', 0);
`;

const TRANSFERS = `
CREATE TABLE transfer (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('hold', 'settle', 'void', 'expire', 'overage', 'credit')),
  debit_account TEXT NOT NULL REFERENCES account (id),
  credit_account TEXT NOT NULL REFERENCES account (id) CHECK (credit_account <> debit_account),
  account_id TEXT NOT NULL,
  pending_nanos INTEGER NOT NULL,
  posted_nanos INTEGER NOT NULL CHECK (posted_nanos >= 0),
  request_id TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX transfer_account ON transfer (account_id, sequence);

CREATE TRIGGER transfer_update BEFORE UPDATE ON transfer
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
CREATE TRIGGER transfer_delete BEFORE DELETE ON transfer
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
`;

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
  request_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account (id),
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  node_id TEXT NOT NULL,
  wanted_nanos INTEGER NOT NULL CHECK (wanted_nanos >= 0),
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos BETWEEN 0 AND wanted_nanos),
  price BLOB NOT NULL,
  create_time_ms INTEGER NOT NULL,
  expire_time_ms INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('held', 'settled', 'voided', 'expired')),
  recovered INTEGER NOT NULL CHECK (recovered IN (0, 1)),
  end_time_ms INTEGER CHECK ((end_time_ms IS NULL) = (state = 'held')),
  charged_nanos INTEGER NOT NULL CHECK (charged_nanos BETWEEN 0 AND amount_nanos),
  overage_nanos INTEGER NOT NULL CHECK (overage_nanos >= 0),
  ${TOKEN_COLUMNS.trim()}
  cost_nanos INTEGER NOT NULL CHECK (cost_nanos >= 0),
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX hold_open ON hold (expire_time_ms) WHERE state = 'held';
CREATE INDEX hold_time ON hold (create_time_ms, request_id);
CREATE INDEX hold_account ON hold (account_id, create_time_ms, request_id);

CREATE TABLE usage (
  request_id TEXT PRIMARY KEY REFERENCES hold (request_id),
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  day TEXT NOT NULL,
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL,${TOKEN_COLUMNS}
  usage_source INTEGER NOT NULL,
  cost_nanos INTEGER NOT NULL CHECK (cost_nanos >= 0),
  end_time_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER usage_update BEFORE UPDATE ON usage
BEGIN SELECT RAISE(ABORT, 'usage rows are append-only'); END;
CREATE TRIGGER usage_delete BEFORE DELETE ON usage
BEGIN SELECT RAISE(ABORT, 'usage rows are append-only'); END;

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
  key_id TEXT NOT NULL,
  period TEXT NOT NULL CHECK (period IN ('day', 'month', 'total')),
  bucket TEXT NOT NULL,
  pending_nanos INTEGER NOT NULL CHECK (pending_nanos >= 0),
  spent_nanos INTEGER NOT NULL CHECK (spent_nanos >= 0),
  PRIMARY KEY (key_id, period, bucket)
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
  revision INTEGER NOT NULL CHECK (revision >= 1)
) STRICT;
CREATE INDEX key_previous_digest ON key (previous_digest) WHERE previous_digest IS NOT NULL;
CREATE INDEX key_time ON key (create_time_ms, id);
CREATE INDEX key_account ON key (account_id, create_time_ms, id);
`;

export const MIGRATIONS: readonly Migration[] = [{ version: 1, sql: ACCOUNTS + TRANSFERS + REQUESTS + KEYS }];
