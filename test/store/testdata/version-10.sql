BEGIN TRANSACTION;
CREATE TABLE accepted_loss (
  number INTEGER PRIMARY KEY,
  accept_time_ms INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  found TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT;
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
  digest BLOB CHECK ((digest IS NULL) = (kind = 'operator')), frozen_time_ms INTEGER, freeze_reason TEXT, freeze_actor TEXT, freeze_ends_streams INTEGER, requests_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (requests_per_minute >= 0), tokens_per_minute INTEGER NOT NULL DEFAULT 0 CHECK (tokens_per_minute >= 0), concurrency INTEGER NOT NULL DEFAULT 0 CHECK (concurrency >= 0), model_limits BLOB NOT NULL DEFAULT x'',
  CHECK (kind = 'operator' OR credits_posted - debits_posted - debits_pending >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "account" VALUES('acme','customer','Acme',0,0,0,0,0,60,4821,0,10000,X'7B3447DE6527F7325185B8817B67B3BA6F448BAE7661704E6FB0D7BE7A0CB256',NULL,NULL,NULL,NULL,0,0,0,X'');
INSERT INTO "account" VALUES('operator:debits','operator','Taken back from accounts',0,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,X'');
INSERT INTO "account" VALUES('operator:grants','operator','Credit given',0,0,0,0,0,0,10000,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,X'');
INSERT INTO "account" VALUES('operator:overage','operator','Cost above the holds',0,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,X'');
INSERT INTO "account" VALUES('operator:receivables','operator','Debits that an account could not pay',0,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,X'');
INSERT INTO "account" VALUES('operator:refunds','operator','Given back of requests',0,0,0,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,0,0,0,X'');
INSERT INTO "account" VALUES('operator:revenue','operator','Paid for requests',0,0,0,0,0,0,0,60,4821,NULL,NULL,NULL,NULL,NULL,0,0,0,X'');
CREATE TABLE budget (
  owner TEXT NOT NULL CHECK (owner IN ('key', 'account')),
  owner_id TEXT NOT NULL,
  period TEXT NOT NULL CHECK (period IN ('day', 'month', 'total')),
  bucket TEXT NOT NULL,
  pending_nanos INTEGER NOT NULL CHECK (pending_nanos >= 0),
  spent_nanos INTEGER NOT NULL CHECK (spent_nanos >= 0),
  PRIMARY KEY (owner, owner_id, period, bucket)
) STRICT, WITHOUT ROWID;
INSERT INTO "budget" VALUES('account','acme','day','2026-11-21',0,4321);
INSERT INTO "budget" VALUES('account','acme','day','2026-11-22',60,500);
INSERT INTO "budget" VALUES('account','acme','month','2026-11',60,4821);
INSERT INTO "budget" VALUES('key','key_1','day','2026-11-21',0,1);
INSERT INTO "budget" VALUES('key','key_1','month','2026-11',0,1);
INSERT INTO "budget" VALUES('key','key_1','total','',0,1);
INSERT INTO "budget" VALUES('key','key_2','day','2026-11-21',0,20);
INSERT INTO "budget" VALUES('key','key_2','month','2026-11',0,20);
INSERT INTO "budget" VALUES('key','key_2','total','',0,20);
INSERT INTO "budget" VALUES('key','key_3','day','2026-11-21',0,300);
INSERT INTO "budget" VALUES('key','key_3','day','2026-11-22',60,500);
INSERT INTO "budget" VALUES('key','key_3','month','2026-11',60,800);
INSERT INTO "budget" VALUES('key','key_3','total','',60,800);
INSERT INTO "budget" VALUES('key','key_4','day','2026-11-21',0,4000);
INSERT INTO "budget" VALUES('key','key_4','month','2026-11',0,4000);
INSERT INTO "budget" VALUES('key','key_4','total','',0,4000);
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
, operator_cost_nanos INTEGER) STRICT;
CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), database_id TEXT NOT NULL) STRICT;
INSERT INTO "identity" VALUES(1,'73db9e4df44c4280986d0652bc07fa4f');
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
, maker_id TEXT) STRICT;
INSERT INTO "key" VALUES('key_2','acme',X'',X'6B65795F32',NULL,NULL,'key_2',0,NULL,1,X'B18ECB073C4C53155AE15047CF2F869DC54D5165DFF960A6FEBCDE8E6035DBEA','key_1');
INSERT INTO "key" VALUES('key_3','acme',X'',X'6B65795F33',NULL,NULL,'key_3',0,NULL,1,X'1F7BE68CF38AD0344046E204DB0D43BA4737ADA2ABE253D682A727918A18895A','key_2');
INSERT INTO "key" VALUES('key_4','acme',X'',X'6B65795F34',NULL,NULL,'key_4',0,NULL,1,X'4A9C38CAEC207739D4359B1A7D87EFBC7A74DBA1C21ED0BEAD2AD6B605B84473','key_1');
CREATE TABLE node (id TEXT PRIMARY KEY, beats INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE open_hold (
  hold_sequence INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL,
  expire_time_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "open_hold" VALUES(12,'node_1',1795348860000);
CREATE TABLE probe (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL) STRICT;
INSERT INTO "probe" VALUES(1,0);
CREATE TABLE release (
  hold_sequence INTEGER PRIMARY KEY,
  sequence INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('void', 'expire')),
  end_time_ms INTEGER NOT NULL
) STRICT;
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
  attempts INTEGER,
  input_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  cache_write_1h_tokens INTEGER,
  output_tokens INTEGER,
  reasoning_tokens INTEGER,
  image_tokens INTEGER,
  audio_input_tokens INTEGER,
  audio_output_tokens INTEGER,
  attempt_log TEXT,
  reason TEXT,
  actor TEXT CHECK ((actor IS NULL) = (reason IS NULL)), operator_cost_nanos INTEGER CHECK (operator_cost_nanos >= 0),
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
INSERT INTO "transfer" VALUES(1,'credit','acme',0,'c1',0,10000,1795262400000,X'A48A1A258FC974AF1D0E973F0DFF5E6F555D56A127A11D27777428941A92EE6B',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(2,'hold','acme',2,NULL,8,0,1795262400000,X'4E7D39FF2FA5D07B7A152C5F9653945EE06EDF183D10C0B31658E79F5F0C66A6','grandmother','key_1','sim-1','node_1',8,X'0801',1795262460000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(3,'settle','acme',2,NULL,-8,1,1795262400000,X'83AB5A3A4745812E4A3497E3FFDBA9470868338B3B31052131708ED58B150A20',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'sim',1,0,0,0,0,3,0,0,0,0,'',NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(4,'hold','acme',4,NULL,27,0,1795262400000,X'A1D3C8FA3D076F4BAEBDA37B5B59F5BD966DCE0149B96FB4AF7E2A850C8FF039','mother','key_2','sim-1','node_1',27,X'0801',1795262460000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(5,'settle','acme',4,NULL,-27,20,1795262400000,X'4609636FCBE9E6421DDD6FE936AFF8C7BF1B0135C3006BC363D21C36A919612B',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'sim',1,0,0,0,0,3,0,0,0,0,'',NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(6,'hold','acme',6,NULL,307,0,1795262400000,X'AE27551FE58B0706614478508EA45E9174492C199315437F412432D9147ED026','child','key_3','sim-1','node_1',307,X'0801',1795262460000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(7,'settle','acme',6,NULL,-307,300,1795262400000,X'B0FE32338B6928765CD547F79F0515434D57C95C05ABFC50F59AB21A1EA2D158',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'sim',1,0,0,0,0,3,0,0,0,0,'',NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(8,'hold','acme',8,NULL,4007,0,1795262400000,X'E7E70B2CF5372A6DDB558FD92AEDEED8D87D2B6396DE2B0919B8E7E2BA863C74','sister','key_4','sim-1','node_1',4007,X'0801',1795262460000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(9,'settle','acme',8,NULL,-4007,4000,1795262400000,X'F6861F7C51E5EA1A25D6608F1627F465675C7691ED31428B58798FB10F873495',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'sim',1,0,0,0,0,3,0,0,0,0,'',NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(10,'hold','acme',10,NULL,507,0,1795348800000,X'F3E6DB006EE63FD99CF8F70F01F6D1306A9E7E81555852725429100AA08709EC','tomorrow','key_3','sim-1','node_1',507,X'0801',1795348860000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(11,'settle','acme',10,NULL,-507,500,1795348800000,X'BE9FBF50D56CD33466F7167497EAEC2F52EDA928DD75ABA2BEB50BDB66489B08',NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,0,'sim',1,0,0,0,0,3,0,0,0,0,'',NULL,NULL,NULL);
INSERT INTO "transfer" VALUES(12,'hold','acme',12,NULL,60,0,1795348800000,X'61829FD2923E9B5817048B52AA391E60EA112756574FD25E6911FB10B6AAEA14','held','key_3','sim-1','node_1',60,X'0801',1795348860000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
  cost_nanos INTEGER NOT NULL, refunded_nanos INTEGER NOT NULL DEFAULT 0, operator_cost_nanos INTEGER NOT NULL DEFAULT 0, margin_nanos INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (day, account_id, key_id, model)
) STRICT, WITHOUT ROWID;
INSERT INTO "usage_day" VALUES('2026-11-21','acme','key_1','sim-1',1,0,0,0,0,3,0,0,0,0,1,0,0,0);
INSERT INTO "usage_day" VALUES('2026-11-21','acme','key_2','sim-1',1,0,0,0,0,3,0,0,0,0,20,0,0,0);
INSERT INTO "usage_day" VALUES('2026-11-21','acme','key_3','sim-1',1,0,0,0,0,3,0,0,0,0,300,0,0,0);
INSERT INTO "usage_day" VALUES('2026-11-21','acme','key_4','sim-1',1,0,0,0,0,3,0,0,0,0,4000,0,0,0);
INSERT INTO "usage_day" VALUES('2026-11-22','acme','key_3','sim-1',1,0,0,0,0,3,0,0,0,0,500,0,0,0);
CREATE TRIGGER release_update BEFORE UPDATE ON release
BEGIN SELECT RAISE(ABORT, 'releases are append-only'); END;
CREATE TRIGGER release_delete BEFORE DELETE ON release
BEGIN SELECT RAISE(ABORT, 'releases are append-only'); END;
CREATE INDEX usage_day_account ON usage_day (account_id, day);
CREATE INDEX key_previous_digest ON key (previous_digest) WHERE previous_digest IS NOT NULL;
CREATE INDEX key_time ON key (create_time_ms, id);
CREATE INDEX key_account ON key (account_id, create_time_ms, id);
CREATE INDEX transfer_account ON transfer (account_id);
CREATE UNIQUE INDEX transfer_credit ON transfer (credit_id, kind) WHERE credit_id IS NOT NULL;
CREATE INDEX transfer_correction ON transfer (account_id, kind, hold_sequence) WHERE reason IS NOT NULL;
CREATE UNIQUE INDEX transfer_request ON transfer (request_id) WHERE request_id IS NOT NULL;
CREATE UNIQUE INDEX transfer_usage ON transfer (hold_sequence) WHERE usage_source IS NOT NULL;
CREATE TRIGGER transfer_update BEFORE UPDATE ON transfer
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
CREATE TRIGGER transfer_delete BEFORE DELETE ON transfer
BEGIN SELECT RAISE(ABORT, 'transfers are append-only'); END;
CREATE VIEW hold AS SELECT sequence, request_id, account_id, key_id, model, node_id, wanted_nanos,
  pending_nanos AS amount_nanos, price, create_time_ms, expire_time_ms FROM transfer WHERE request_id IS NOT NULL;
CREATE TRIGGER identity_update BEFORE UPDATE ON identity
BEGIN SELECT RAISE(ABORT, 'identities are append-only'); END;
CREATE TRIGGER identity_delete BEFORE DELETE ON identity
BEGIN SELECT RAISE(ABORT, 'identities are append-only'); END;
CREATE TRIGGER accepted_loss_update BEFORE UPDATE ON accepted_loss
BEGIN SELECT RAISE(ABORT, 'accepted losses are append-only'); END;
CREATE TRIGGER accepted_loss_delete BEFORE DELETE ON accepted_loss
BEGIN SELECT RAISE(ABORT, 'accepted losses are append-only'); END;
CREATE VIEW usage AS SELECT hold_sequence, sequence, usage_source, posted_nanos AS charged_nanos, overage_nanos,
  operator_cost_nanos, upstream, attempts, attempt_log, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  create_time_ms AS end_time_ms FROM transfer WHERE usage_source IS NOT NULL;
COMMIT;
PRAGMA user_version = 10;
