/** The tables of how money comes in. What a code is worth is money only once a transfer credits it. */
export const PAYMENTS = `
CREATE TABLE top_up_code (
  id TEXT PRIMARY KEY,
  batch_id TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos > 0),
  note TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  expire_time_ms INTEGER NOT NULL,
  void_time_ms INTEGER,
  account_id TEXT,
  redeem_time_ms INTEGER,
  credit_time_ms INTEGER,
  CHECK ((account_id IS NULL) = (redeem_time_ms IS NULL)),
  CHECK (void_time_ms IS NULL OR account_id IS NULL)
) STRICT;
CREATE INDEX top_up_code_batch ON top_up_code (batch_id, id);
CREATE INDEX top_up_code_owed ON top_up_code (redeem_time_ms)
  WHERE redeem_time_ms IS NOT NULL AND credit_time_ms IS NULL;

CREATE TABLE payment (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  session_id TEXT NOT NULL UNIQUE,
  intent_id TEXT UNIQUE,
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos >= 0),
  create_time_ms INTEGER NOT NULL,
  expire_time_ms INTEGER NOT NULL,
  ending TEXT CHECK (ending IN ('pending', 'failed', 'expired')),
  paid_nanos INTEGER NOT NULL DEFAULT 0 CHECK (paid_nanos >= 0),
  pay_time_ms INTEGER,
  credited_nanos INTEGER NOT NULL DEFAULT 0 CHECK (credited_nanos IN (0, paid_nanos)),
  taken_nanos INTEGER NOT NULL DEFAULT 0 CHECK (taken_nanos BETWEEN 0 AND credited_nanos),
  receivable_nanos INTEGER NOT NULL DEFAULT 0 CHECK (receivable_nanos BETWEEN 0 AND taken_nanos),
  due_time_ms INTEGER,
  problem TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX payment_time ON payment (create_time_ms, id);
CREATE INDEX payment_account ON payment (account_id, create_time_ms, id);
CREATE INDEX payment_due ON payment (due_time_ms) WHERE due_time_ms IS NOT NULL;

CREATE TABLE payment_refund (
  id TEXT PRIMARY KEY,
  payment_id TEXT NOT NULL,
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos >= 0),
  failed INTEGER NOT NULL CHECK (failed IN (0, 1))
) STRICT;
CREATE INDEX payment_refund_of ON payment_refund (payment_id);

CREATE TABLE payment_dispute (
  id TEXT PRIMARY KEY,
  payment_id TEXT NOT NULL,
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos >= 0),
  withdrawn INTEGER NOT NULL CHECK (withdrawn IN (0, 1)),
  reinstated INTEGER NOT NULL CHECK (reinstated IN (0, 1))
) STRICT;
CREATE INDEX payment_dispute_of ON payment_dispute (payment_id);

CREATE TABLE payment_booking (
  payment_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('credit', 'take', 'return')),
  transfer_id TEXT NOT NULL UNIQUE,
  amount_nanos INTEGER NOT NULL CHECK (amount_nanos > 0),
  receivable_nanos INTEGER NOT NULL CHECK (receivable_nanos BETWEEN 0 AND amount_nanos),
  create_time_ms INTEGER NOT NULL,
  done_time_ms INTEGER,
  PRIMARY KEY (payment_id, number)
) STRICT;

CREATE TABLE stripe_event (
  id TEXT PRIMARY KEY,
  payment_id TEXT NOT NULL,
  type TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL
) STRICT;
`;
