PRAGMA user_version = 2;
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
INSERT INTO account (id, kind, name, create_time_ms, budget_day_nanos, budget_month_nanos, budget_total_nanos, request_cost_max_nanos, debits_pending, debits_posted, credits_pending, credits_posted, digest) VALUES ('acme', 'customer', 'Acme', 1795262400000, 0, 0, 0, 0, 10, 10, 0, 100, X'20639C25913E61B3D045920E78785BCC7386A491119E859BB023BF4EA39895B6');
INSERT INTO account (id, kind, name, create_time_ms, budget_day_nanos, budget_month_nanos, budget_total_nanos, request_cost_max_nanos, debits_pending, debits_posted, credits_pending, credits_posted, digest) VALUES ('operator:grants', 'operator', 'Credit given', 0, 0, 0, 0, 0, 0, 100, 0, 0, NULL);
INSERT INTO account (id, kind, name, create_time_ms, budget_day_nanos, budget_month_nanos, budget_total_nanos, request_cost_max_nanos, debits_pending, debits_posted, credits_pending, credits_posted, digest) VALUES ('operator:overage', 'operator', 'Cost above the holds', 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL);
INSERT INTO account (id, kind, name, create_time_ms, budget_day_nanos, budget_month_nanos, budget_total_nanos, request_cost_max_nanos, debits_pending, debits_posted, credits_pending, credits_posted, digest) VALUES ('operator:revenue', 'operator', 'Paid for requests', 0, 0, 0, 0, 0, 0, 0, 10, 10, NULL);
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
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (1, 'credit', 'acme', 0, 'c1', 0, 100, 1795262400000, X'13F5F8B4AC93C08786E7FA602C623A6A0CEA4657982FD6500A2794F9DBAAB1D9');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (2, 'hold', 'acme', 2, NULL, 10, 0, 1795262400000, X'ABBF4555B4963C8ABCC0EE85BF68151A68445499834D944E0E7C047021C7216D');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (3, 'hold', 'acme', 3, NULL, 10, 0, 1795262400000, X'7BFD41F0E30BAF78FED3EC085CA142119F1F2F661E6353B77BECD8F827209F36');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (4, 'hold', 'acme', 4, NULL, 10, 0, 1795262400000, X'DA17FCC89DC83EDE49D1E46FF7D8C2E468087247122E47BA3CAB2CB3023C7515');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (5, 'hold', 'acme', 5, NULL, 10, 0, 1795262400000, X'CC302E4E9D1F3B46C5105074BDA3F006E250FE8657FE6EF59780F6474E92E91C');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (6, 'hold', 'acme', 6, NULL, 10, 0, 1795262400000, X'F7F41F304D330B31CD407B5517C4ADB1F49AB9DB154646B7EF294CED39EB2252');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (7, 'settle', 'acme', 2, NULL, -10, 4, 1795262401000, X'ED0ECC2A53A3701577C1417D21FFE9F833B1156A7B4A8F07E9219B7FDE4D65F3');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (8, 'settle', 'acme', 3, NULL, -10, 4, 1795262401000, X'9107ABBAC74B4A25616AFCDBB8E1439A6E23456B7B6B4AEAC2B8325CB99A0127');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (9, 'void', 'acme', 4, NULL, -10, 0, 1795262401000, X'FB9F77FEE9C196AC04B66C3AF8F104D72F2F4BC6620A4483B21CB7976058224E');
INSERT INTO transfer (sequence, kind, account_id, hold_sequence, credit_id, pending_nanos, posted_nanos, create_time_ms, hash) VALUES (10, 'settle', 'acme', 5, NULL, -10, 2, 1795262400001, X'61BF0BB02C4C7CC22A8BF2960DA0675B55DD3DF69DF89BD3FA9713C68344E684');
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
INSERT INTO hold (sequence, request_id, account_id, key_id, model, node_id, wanted_nanos, amount_nanos, price, create_time_ms, expire_time_ms) VALUES (2, 'answered', 'acme', 'key_1', 'sim-1', 'answered', 10, 10, X'0801', 1795262400000, 1795262460000);
INSERT INTO hold (sequence, request_id, account_id, key_id, model, node_id, wanted_nanos, amount_nanos, price, create_time_ms, expire_time_ms) VALUES (3, 'retried', 'acme', 'key_1', 'sim-1', 'retried', 10, 10, X'0801', 1795262400000, 1795262460000);
INSERT INTO hold (sequence, request_id, account_id, key_id, model, node_id, wanted_nanos, amount_nanos, price, create_time_ms, expire_time_ms) VALUES (4, 'failed', 'acme', 'key_1', 'sim-1', 'failed', 10, 10, X'0801', 1795262400000, 1795262460000);
INSERT INTO hold (sequence, request_id, account_id, key_id, model, node_id, wanted_nanos, amount_nanos, price, create_time_ms, expire_time_ms) VALUES (5, 'recovered', 'acme', 'key_1', 'sim-1', 'recovered', 10, 10, X'0801', 1795262400000, 1795262460000);
INSERT INTO hold (sequence, request_id, account_id, key_id, model, node_id, wanted_nanos, amount_nanos, price, create_time_ms, expire_time_ms) VALUES (6, 'held', 'acme', 'key_1', 'sim-1', 'held', 10, 10, X'0801', 1795262400000, 1795262460000);
CREATE TABLE open_hold (
  hold_sequence INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL,
  expire_time_ms INTEGER NOT NULL
) STRICT;
INSERT INTO open_hold (hold_sequence, node_id, expire_time_ms) VALUES (6, 'held', 1795262460000);
CREATE TABLE checkpoint (
  hold_sequence INTEGER PRIMARY KEY,
  input_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  image_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,
  cost_nanos INTEGER NOT NULL CHECK (cost_nanos >= 0),
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;
INSERT INTO checkpoint (hold_sequence, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens, cost_nanos, upstream, attempts, digest) VALUES (6, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 'sim', 1, X'1376D9AFDF1B99823BA6DF12B876EBBED23F61ACFCE78CC1EA50510D6EA143A5');
CREATE TABLE usage (
  hold_sequence INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  usage_source INTEGER NOT NULL,
  charged_nanos INTEGER NOT NULL CHECK (charged_nanos >= 0),
  overage_nanos INTEGER NOT NULL CHECK (overage_nanos >= 0),
  upstream TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  image_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,
  end_time_ms INTEGER NOT NULL
) STRICT;
INSERT INTO usage (hold_sequence, sequence, usage_source, charged_nanos, overage_nanos, upstream, attempts, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens, end_time_ms) VALUES (2, 7, 1, 4, 0, 'sim', 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1795262401000);
INSERT INTO usage (hold_sequence, sequence, usage_source, charged_nanos, overage_nanos, upstream, attempts, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens, end_time_ms) VALUES (3, 8, 1, 4, 0, 'sim', 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1795262401000);
INSERT INTO usage (hold_sequence, sequence, usage_source, charged_nanos, overage_nanos, upstream, attempts, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens, end_time_ms) VALUES (4, 9, 4, 0, 0, 'sim', 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1795262401000);
INSERT INTO usage (hold_sequence, sequence, usage_source, charged_nanos, overage_nanos, upstream, attempts, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens, end_time_ms) VALUES (5, 10, 3, 2, 0, 'sim', 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1795262400001);
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
  request_count INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_write_1h_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  image_tokens INTEGER NOT NULL,
  audio_input_tokens INTEGER NOT NULL,
  audio_output_tokens INTEGER NOT NULL,
  cost_nanos INTEGER NOT NULL,
  PRIMARY KEY (day, account_id, key_id, model)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_day (day, account_id, key_id, model, request_count, input_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens, cost_nanos) VALUES ('2026-11-21', 'acme', 'key_1', 'sim-1', 3, 0, 0, 0, 0, 8, 0, 0, 0, 0, 10);
CREATE TABLE budget (
  owner TEXT NOT NULL CHECK (owner IN ('key', 'account')),
  owner_id TEXT NOT NULL,
  period TEXT NOT NULL CHECK (period IN ('day', 'month', 'total')),
  bucket TEXT NOT NULL,
  pending_nanos INTEGER NOT NULL CHECK (pending_nanos >= 0),
  spent_nanos INTEGER NOT NULL CHECK (spent_nanos >= 0),
  PRIMARY KEY (owner, owner_id, period, bucket)
) STRICT, WITHOUT ROWID;
INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos) VALUES ('account', 'acme', 'day', '2026-11-21', 10, 10);
INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos) VALUES ('account', 'acme', 'month', '2026-11', 10, 10);
INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos) VALUES ('key', 'key_1', 'day', '2026-11-21', 10, 10);
INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos) VALUES ('key', 'key_1', 'month', '2026-11', 10, 10);
INSERT INTO budget (owner, owner_id, period, bucket, pending_nanos, spent_nanos) VALUES ('key', 'key_1', 'total', '', 10, 10);
CREATE TABLE node (
  id TEXT PRIMARY KEY,
  lease_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO node (id, lease_until_ms) VALUES ('held', 1795262415000);
CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
INSERT INTO probe (id, count) VALUES (1, 0);
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
CREATE INDEX transfer_account ON transfer (account_id);
CREATE UNIQUE INDEX transfer_credit ON transfer (credit_id) WHERE credit_id IS NOT NULL;
CREATE TRIGGER transfer_update BEFORE UPDATE ON transfer
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
CREATE TRIGGER transfer_delete BEFORE DELETE ON transfer
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
CREATE INDEX hold_account ON hold (account_id);
CREATE TRIGGER hold_update BEFORE UPDATE ON hold
BEGIN SELECT RAISE(ABORT, 'holds are append-only'); END;
CREATE TRIGGER hold_delete BEFORE DELETE ON hold
BEGIN SELECT RAISE(ABORT, 'holds are append-only'); END;
CREATE TRIGGER usage_update BEFORE UPDATE ON usage
BEGIN SELECT RAISE(ABORT, 'usage rows are append-only'); END;
CREATE TRIGGER usage_delete BEFORE DELETE ON usage
BEGIN SELECT RAISE(ABORT, 'usage rows are append-only'); END;
CREATE TRIGGER release_update BEFORE UPDATE ON release
BEGIN SELECT RAISE(ABORT, 'releases are append-only'); END;
CREATE TRIGGER release_delete BEFORE DELETE ON release
BEGIN SELECT RAISE(ABORT, 'releases are append-only'); END;
CREATE INDEX usage_day_account ON usage_day (account_id, day);
CREATE INDEX key_previous_digest ON key (previous_digest) WHERE previous_digest IS NOT NULL;
CREATE INDEX key_time ON key (create_time_ms, id);
CREATE INDEX key_account ON key (account_id, create_time_ms, id);
