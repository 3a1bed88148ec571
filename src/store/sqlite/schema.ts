/** The tables, as steps from each version of the schema to the next. A step that was released never changes. */
import { ALERTS } from "../alert-schema.js";
import { ARCHIVE, ARCHIVE_TRIGGERS } from "../archive-schema.js";
import { METERS, METERS_BY_ACCOUNT } from "../meter-schema.js";
import { CREDIT_LINES } from "../credit-line-schema.js";
import { TOKEN_COLUMNS_TABLE } from "../token-columns.js";
import { PAYMENTS } from "../payment-schema.js";
import { FILE_STATES } from "../file-state-schema.js";
import { ACCOUNT_PLANS } from "../plan-schema.js";
import { LINK_GIVERS, PEOPLE } from "../people-schema.js";
import { OPERATOR_COSTS } from "../operator-cost-schema.js";
import { PASSKEYS } from "../passkey-schema.js";
import { PRICE_LISTS } from "../price-list-schema.js";
import { QUOTAS } from "../quota-schema.js";
import { SETTINGS_OBJECTS } from "../settings-schema.js";

export interface Migration {
  /** The version that it leads to, without gaps. The first makes a new database. */
  readonly version: number;
  readonly sql: string;
}

/** An account's chain is its last transfer's: whoever changes the sums puts a transfer behind it. */
const ACCOUNTS = `
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  budget_day_nanos INTEGER NOT NULL CHECK (budget_day_nanos >= 0),
  budget_month_nanos INTEGER NOT NULL CHECK (budget_month_nanos >= 0),
  budget_total_nanos INTEGER NOT NULL CHECK (budget_total_nanos >= 0),
  request_cost_max_nanos INTEGER NOT NULL CHECK (request_cost_max_nanos >= 0),
  frozen_time_ms INTEGER,
  freeze_reason TEXT,
  freeze_actor TEXT,
  freeze_ends_streams INTEGER,
  requests_per_minute INTEGER NOT NULL CHECK (requests_per_minute >= 0),
  tokens_per_minute INTEGER NOT NULL CHECK (tokens_per_minute >= 0),
  concurrency INTEGER NOT NULL CHECK (concurrency >= 0),
  model_limits BLOB NOT NULL,
  digest BLOB NOT NULL,
  debits_pending INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  debits_posted INTEGER NOT NULL DEFAULT 0,
  credits_posted INTEGER NOT NULL DEFAULT 0 CHECK (credits_posted - debits_posted - debits_pending >= 0),
  debited_nanos INTEGER NOT NULL DEFAULT 0 CHECK (debited_nanos BETWEEN 0 AND debits_posted),
  short INTEGER NOT NULL DEFAULT 0 CHECK (short IN (0, 1)),
  chain_sequence INTEGER NOT NULL DEFAULT 0,
  chain_hash BLOB NOT NULL DEFAULT (zeroblob(32)) CHECK (length(chain_hash) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_total (
  kind TEXT NOT NULL CHECK (kind IN ('granted', 'overage', 'receivable')),
  shard INTEGER NOT NULL,
  nanos INTEGER NOT NULL CHECK (nanos >= 0),
  PRIMARY KEY (kind, shard)
) STRICT, WITHOUT ROWID;
`;

/**
 * A transfer and the record that its hash proves are one row: a hold's has its terms, and one that ended a request its
 * usage. Readers find holds and usages in views. The hot tables have whole numbers for keys, so that a new row goes to
 * the end of its table, and no foreign keys: each would cost a search for every row, and the proof compares instead.
 * One check of the whole row, by its kind, costs less than one for each column.
 */
const TRANSFERS = `
CREATE TABLE transfer (
  sequence INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT NOT NULL,
  account_sequence INTEGER NOT NULL,
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
  lease_id TEXT,
  usage_source INTEGER,
  overage_nanos INTEGER CHECK (overage_nanos >= 0),
  operator_cost_nanos INTEGER CHECK (operator_cost_nanos >= 0),
  upstream TEXT,
  attempts INTEGER,${TOKEN_COLUMNS_TABLE.replaceAll(" NOT NULL", "")}
  attempt_log TEXT,
  reason TEXT,
  actor TEXT CHECK ((actor IS NULL) = (reason IS NULL)),
  CHECK (CASE kind
    WHEN 'hold' THEN request_id IS NOT NULL AND pending_nanos BETWEEN 0 AND wanted_nanos
      AND usage_source IS NULL AND credit_id IS NULL
    WHEN 'lease' THEN credit_id IS NOT NULL AND pending_nanos >= 0 AND request_id IS NULL AND usage_source IS NULL
    WHEN 'return' THEN credit_id IS NOT NULL AND pending_nanos <= 0 AND request_id IS NULL AND usage_source IS NULL
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
CREATE UNIQUE INDEX transfer_account ON transfer (account_id, account_sequence);
CREATE UNIQUE INDEX transfer_credit ON transfer (credit_id, kind) WHERE credit_id IS NOT NULL;
CREATE INDEX transfer_correction ON transfer (account_id, kind, hold_sequence) WHERE reason IS NOT NULL;
CREATE UNIQUE INDEX transfer_request ON transfer (request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX transfer_usage ON transfer (hold_sequence) WHERE usage_source IS NOT NULL;
CREATE VIEW hold AS SELECT sequence, account_sequence, request_id, account_id, key_id, model, node_id, wanted_nanos,
  pending_nanos AS amount_nanos, price, create_time_ms, expire_time_ms, lease_id
  FROM transfer WHERE request_id IS NOT NULL;
CREATE VIEW usage AS SELECT hold_sequence, sequence, usage_source, posted_nanos AS charged_nanos, overage_nanos,
  operator_cost_nanos, upstream, attempts, attempt_log, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  create_time_ms AS end_time_ms FROM transfer WHERE usage_source IS NOT NULL;
`;

const REQUESTS = `
CREATE TABLE open_hold (
  hold_sequence INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL,
  expire_time_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE lease (
  id TEXT PRIMARY KEY,
  node_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  rest_nanos INTEGER NOT NULL CHECK (rest_nanos >= 0),
  recalled INTEGER NOT NULL CHECK (recalled IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoint (
  hold_sequence INTEGER PRIMARY KEY,${TOKEN_COLUMNS_TABLE}
  cost_nanos INTEGER NOT NULL CHECK (cost_nanos >= 0),
  operator_cost_nanos INTEGER,
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE release (
  hold_sequence INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('void', 'expire')),
  end_time_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE usage_day (
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  request_count INTEGER NOT NULL,${TOKEN_COLUMNS_TABLE}
  cost_nanos INTEGER NOT NULL,
  refunded_nanos INTEGER NOT NULL,
  operator_cost_nanos INTEGER NOT NULL,
  margin_nanos INTEGER NOT NULL,
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

CREATE TABLE node (id TEXT PRIMARY KEY, beats INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
INSERT INTO probe (id, count) VALUES (1, 0);
`;

/**
 * `maker_id`: the key that made a key; null where an operator did. Lists pass over keys that do not match by the index
 * alone: of 20,000 keys that takes a thirtieth of the time.
 */
export const KEYS = `
CREATE TABLE key (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  maker_id TEXT,
  maker_user_id TEXT,
  settings BLOB NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  previous_digest BLOB,
  previous_until_ms INTEGER,
  hint TEXT NOT NULL,
  search_text TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  revoke_time_ms INTEGER,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  row_digest BLOB NOT NULL
) STRICT;
CREATE TABLE key_use (key_id TEXT PRIMARY KEY, last_use_time_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX key_previous_digest ON key (previous_digest) WHERE previous_digest IS NOT NULL;
CREATE INDEX key_time ON key (create_time_ms, id, search_text, revoke_time_ms);
CREATE INDEX key_account ON key (account_id, create_time_ms, id, search_text, revoke_time_ms);
CREATE INDEX key_alive ON key (account_id, revoke_time_ms) WHERE revoke_time_ms IS NULL;
`;

/** By which a witness knows its database, and what was lost of it and accepted. */
export const IDENTITY = `
CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), database_id TEXT NOT NULL) STRICT;
CREATE TABLE accepted_loss (
  number INTEGER PRIMARY KEY,
  accept_time_ms INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  found TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT;`;

/** One chain of all records; `audit_head` says where it ends, and is what writers wait for each other by. */
export const AUDIT = `
CREATE TABLE audit_event (
  sequence INTEGER PRIMARY KEY,
  time_ms INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('key', 'user', 'cli', 'file', 'gateway')),
  actor_id TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  actor_account_id TEXT NOT NULL,
  door TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  method TEXT NOT NULL,
  resource TEXT NOT NULL,
  account_id TEXT NOT NULL,
  result TEXT NOT NULL CHECK (result IN ('done', 'unchanged', 'refused')),
  reason TEXT NOT NULL,
  before_json TEXT NOT NULL,
  after_json TEXT NOT NULL,
  transfer_id TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE INDEX audit_event_account ON audit_event (account_id, sequence);
CREATE INDEX audit_event_actor ON audit_event (actor_id, sequence);
CREATE INDEX audit_event_resource ON audit_event (resource, sequence);
CREATE INDEX audit_event_time ON audit_event (time_ms, sequence);
CREATE TABLE audit_head (id INTEGER PRIMARY KEY CHECK (id = 1), sequence INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
`;

const MAKE_AUDIT_HEAD = "INSERT INTO audit_head (id, sequence, hash) VALUES (1, 0, zeroblob(32));";

/** The tables, views and indexes of version 1. */
const TABLES = ACCOUNTS + TRANSFERS + REQUESTS + KEYS + PEOPLE + PAYMENTS + IDENTITY + AUDIT + ALERTS + ARCHIVE;

/** Rows that never change: nothing of the program updates or deletes them, and a trigger refuses it to others. */
interface AppendOnly {
  readonly table: string;
  readonly rows: string;
  /** Without: both. What deletes transfers is the archive alone, by its own rules. */
  readonly actions?: readonly string[];
}

const APPEND_ONLY: readonly AppendOnly[] = [
  { table: "transfer", rows: "transfers", actions: ["update"] },
  { table: "release", rows: "releases" },
  { table: "identity", rows: "identities" },
  { table: "accepted_loss", rows: "accepted losses" },
  { table: "audit_event", rows: "audit records" },
  { table: "archive", rows: "archives" },
];

function triggers(): string {
  return APPEND_ONLY.flatMap(({ table, rows, actions = ["update", "delete"] }) =>
    actions.map(
      (action) => `
CREATE TRIGGER ${table}_${action} BEFORE ${action.toUpperCase()} ON ${table}
BEGIN SELECT RAISE(ABORT, '${rows} are append-only'); END;`,
    ),
  ).join("");
}

const MAKE_IDENTITY = "INSERT INTO identity (id, database_id) VALUES (1, lower(hex(randomblob(16))));";

/** What marks a file as one of these: builds before the first version that lasts wrote no such mark. */
export const APPLICATION_ID = 0x54_4c_47_31;

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: TABLES + MAKE_IDENTITY + MAKE_AUDIT_HEAD + triggers() + ARCHIVE_TRIGGERS },
  { version: 2, sql: LINK_GIVERS },
  { version: 3, sql: METERS },
  { version: 4, sql: METERS_BY_ACCOUNT },
  { version: 5, sql: SETTINGS_OBJECTS },
  { version: 6, sql: PASSKEYS + ACCOUNT_PLANS },
  { version: 7, sql: FILE_STATES },
  { version: 8, sql: OPERATOR_COSTS + CREDIT_LINES + PRICE_LISTS },
  { version: 9, sql: QUOTAS },
];
