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
`;
