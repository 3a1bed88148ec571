/** The ledger's tables in PostgreSQL. Ids are compared by their bytes, whatever the database's order of texts. */
/** As they stood when the first version was made: a step of the schema never changes. */
const TOKENS = `  input_tokens bigint NOT NULL,
  cache_read_tokens bigint NOT NULL,
  cache_write_tokens bigint NOT NULL,
  cache_write_1h_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  image_tokens bigint NOT NULL,
  audio_input_tokens bigint NOT NULL,
  audio_output_tokens bigint NOT NULL,`;
const ID = 'text COLLATE "C"';

/** Rows that never change: nothing of the program updates or deletes them, and a trigger refuses it to others. */
export function appendOnly(table: string, rows: string, actions = "UPDATE OR DELETE OR TRUNCATE"): string {
  return `
CREATE FUNCTION refuse_${table}() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION '${rows} are append-only'; END $$;
CREATE TRIGGER ${table}_stays BEFORE ${actions} ON ${table}
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_${table}();
`;
}

/**
 * A transfer and the record that its hash proves are one row. An account's row has the end of its chain. A batch takes
 * its places in the ledger from \`transfer_block\`, a block at once. A writer's row says which of its batches was the
 * last, so that one whose commit was not answered is found. An anchor's heads are where each account's chain ended when
 * the newest anchor was made.
 */
export const LEDGER_TABLES = `
CREATE TABLE account (
  id ${ID} PRIMARY KEY,
  name text NOT NULL,
  create_time_ms bigint NOT NULL,
  budget_day_nanos bigint NOT NULL CHECK (budget_day_nanos >= 0),
  budget_month_nanos bigint NOT NULL CHECK (budget_month_nanos >= 0),
  budget_total_nanos bigint NOT NULL CHECK (budget_total_nanos >= 0),
  request_cost_max_nanos bigint NOT NULL CHECK (request_cost_max_nanos >= 0),
  frozen_time_ms bigint,
  freeze_reason text,
  freeze_actor text,
  freeze_ends_streams bigint,
  requests_per_minute bigint NOT NULL CHECK (requests_per_minute >= 0),
  tokens_per_minute bigint NOT NULL CHECK (tokens_per_minute >= 0),
  concurrency bigint NOT NULL CHECK (concurrency >= 0),
  model_limits bytea NOT NULL,
  digest bytea NOT NULL,
  debits_pending bigint NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
  debits_posted bigint NOT NULL DEFAULT 0,
  credits_posted bigint NOT NULL DEFAULT 0 CHECK (credits_posted - debits_posted - debits_pending >= 0),
  debited_nanos bigint NOT NULL DEFAULT 0 CHECK (debited_nanos BETWEEN 0 AND debits_posted),
  short bigint NOT NULL DEFAULT 0 CHECK (short IN (0, 1)),
  chain_sequence bigint NOT NULL DEFAULT 0,
  chain_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CHECK (length(chain_hash) = 32)
) WITH (fillfactor = 50);

CREATE TABLE operator_total (
  kind ${ID} NOT NULL CHECK (kind IN ('granted', 'overage', 'receivable')),
  shard bigint NOT NULL,
  nanos bigint NOT NULL CHECK (nanos >= 0),
  PRIMARY KEY (kind, shard)
);

CREATE SEQUENCE transfer_block MINVALUE 0 START 0;
CREATE TABLE transfer (
  sequence bigint PRIMARY KEY,
  kind ${ID} NOT NULL,
  account_id ${ID} NOT NULL,
  account_sequence bigint NOT NULL,
  hold_sequence bigint NOT NULL,
  credit_id ${ID},
  pending_nanos bigint NOT NULL,
  posted_nanos bigint NOT NULL CHECK (posted_nanos >= 0),
  create_time_ms bigint NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  request_id ${ID},
  key_id ${ID},
  model text,
  node_id ${ID},
  wanted_nanos bigint,
  price bytea,
  expire_time_ms bigint,
  lease_id ${ID},
  usage_source bigint,
  overage_nanos bigint CHECK (overage_nanos >= 0),
  operator_cost_nanos bigint CHECK (operator_cost_nanos >= 0),
  upstream text,
  attempts bigint,
${TOKENS.replaceAll(" NOT NULL", "")}
  attempt_log text,
  reason text,
  actor text CHECK ((actor IS NULL) = (reason IS NULL)),
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
);
CREATE UNIQUE INDEX transfer_account ON transfer (account_id, account_sequence);
CREATE UNIQUE INDEX transfer_credit ON transfer (credit_id, kind) WHERE credit_id IS NOT NULL;
CREATE INDEX transfer_correction ON transfer (account_id, kind, hold_sequence) WHERE reason IS NOT NULL;
CREATE UNIQUE INDEX transfer_request ON transfer (request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX transfer_usage ON transfer (hold_sequence) WHERE usage_source IS NOT NULL;
${appendOnly("transfer", "transfers", "UPDATE OR TRUNCATE")}
CREATE VIEW hold AS SELECT sequence, account_sequence, request_id, account_id, key_id, model, node_id, wanted_nanos,
  pending_nanos AS amount_nanos, price, create_time_ms, expire_time_ms, lease_id
  FROM transfer WHERE request_id IS NOT NULL;
CREATE VIEW usage AS SELECT hold_sequence, sequence, usage_source, posted_nanos AS charged_nanos, overage_nanos,
  operator_cost_nanos, upstream, attempts, attempt_log, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  create_time_ms AS end_time_ms FROM transfer WHERE usage_source IS NOT NULL;

CREATE TABLE open_hold (
  hold_sequence bigint PRIMARY KEY,
  node_id ${ID} NOT NULL,
  expire_time_ms bigint NOT NULL
);
CREATE INDEX open_hold_node ON open_hold (node_id, hold_sequence);

CREATE TABLE lease (
  id ${ID} PRIMARY KEY,
  node_id ${ID} NOT NULL,
  account_id ${ID} NOT NULL,
  key_id ${ID} NOT NULL,
  create_time_ms bigint NOT NULL,
  rest_nanos bigint NOT NULL CHECK (rest_nanos >= 0),
  recalled bigint NOT NULL CHECK (recalled IN (0, 1))
);
CREATE INDEX lease_account ON lease (account_id);
CREATE INDEX lease_node ON lease (node_id);

CREATE TABLE checkpoint (
  hold_sequence bigint PRIMARY KEY,
${TOKENS}
  cost_nanos bigint NOT NULL CHECK (cost_nanos >= 0),
  operator_cost_nanos bigint,
  upstream text NOT NULL,
  attempts bigint NOT NULL,
  digest bytea NOT NULL
);

CREATE TABLE release (
  hold_sequence bigint PRIMARY KEY,
  sequence bigint NOT NULL,
  kind ${ID} NOT NULL CHECK (kind IN ('void', 'expire')),
  end_time_ms bigint NOT NULL
);
${appendOnly("release", "releases")}
CREATE TABLE usage_day (
  day ${ID} NOT NULL,
  account_id ${ID} NOT NULL,
  key_id ${ID} NOT NULL,
  model ${ID} NOT NULL,
  request_count bigint NOT NULL,
${TOKENS}
  cost_nanos bigint NOT NULL,
  refunded_nanos bigint NOT NULL,
  operator_cost_nanos bigint NOT NULL,
  margin_nanos bigint NOT NULL,
  PRIMARY KEY (day, account_id, key_id, model)
);
CREATE INDEX usage_day_account ON usage_day (account_id, day);

CREATE TABLE budget (
  owner ${ID} NOT NULL CHECK (owner IN ('key', 'account')),
  owner_id ${ID} NOT NULL,
  period ${ID} NOT NULL CHECK (period IN ('day', 'month', 'total')),
  bucket ${ID} NOT NULL,
  pending_nanos bigint NOT NULL CHECK (pending_nanos >= 0),
  spent_nanos bigint NOT NULL CHECK (spent_nanos >= 0),
  PRIMARY KEY (owner, owner_id, period, bucket)
) WITH (fillfactor = 50);

CREATE TABLE node (id ${ID} PRIMARY KEY, beats bigint NOT NULL);
CREATE TABLE node_note (node_id ${ID} PRIMARY KEY, said bytea NOT NULL);
CREATE TABLE writer (id ${ID} PRIMARY KEY, epoch bigint NOT NULL, batch bigint NOT NULL);

CREATE TABLE anchor (
  number bigint PRIMARY KEY,
  create_time_ms bigint NOT NULL,
  account_count bigint NOT NULL,
  heads bytea NOT NULL CHECK (length(heads) = 32),
  hash bytea NOT NULL CHECK (length(hash) = 32)
);
${appendOnly("anchor", "anchors")}
CREATE TABLE anchor_head (
  account_id ${ID} PRIMARY KEY,
  account_sequence bigint NOT NULL,
  hash bytea NOT NULL
);
`;
