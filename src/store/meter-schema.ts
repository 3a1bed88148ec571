/** Where quantities of other units than tokens are stored: with each usage as text, and as sums of each day. */

const DAY_METERS = `
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  unit TEXT NOT NULL,
  variant TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  PRIMARY KEY (day, account_id, key_id, model, unit, variant)`;

/** Without a default, so that no row is written anew. The view gets its new column last, as PostgreSQL wants it. */
export const METERS = `
ALTER TABLE transfer ADD COLUMN meters TEXT;
ALTER TABLE checkpoint ADD COLUMN meters TEXT;
DROP VIEW usage;
CREATE VIEW usage AS SELECT hold_sequence, sequence, usage_source, posted_nanos AS charged_nanos, overage_nanos,
  operator_cost_nanos, upstream, attempts, attempt_log, input_tokens, cache_read_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, reasoning_tokens, image_tokens, audio_input_tokens, audio_output_tokens,
  create_time_ms AS end_time_ms, meters FROM transfer WHERE usage_source IS NOT NULL;
CREATE TABLE usage_day_meter (${DAY_METERS}
) STRICT, WITHOUT ROWID;
CREATE TABLE archive_day_meter (${DAY_METERS}
) STRICT, WITHOUT ROWID;
`;

export const METERS_BY_ACCOUNT = `
CREATE INDEX usage_day_meter_account ON usage_day_meter (account_id, day);
`;
