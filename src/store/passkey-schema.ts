/** The tables of passkeys, for both databases. A public key is no secret. */
export const PASSKEYS = `
CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  credential_id BLOB NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  rp_id TEXT NOT NULL,
  transports TEXT NOT NULL,
  counter INTEGER NOT NULL,
  name TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  use_time_ms INTEGER
) STRICT;
CREATE INDEX passkey_user ON passkey (user_id, id);

CREATE TABLE passkey_challenge (
  digest BLOB PRIMARY KEY,
  expire_time_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenge_end ON passkey_challenge (expire_time_ms);
`;
