/** From version 2 on a link says who gave it. */
export const LINK_GIVERS = `
ALTER TABLE link ADD COLUMN giver_user_id TEXT;
ALTER TABLE link ADD COLUMN giver_key_id TEXT;
`;

/** The tables of people. Nothing of them is money, and no secret stands in them as it is. */
export const PEOPLE = `
CREATE TABLE gateway_user (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  password TEXT,
  installation_role TEXT CHECK (installation_role IN ('operator', 'auditor')),
  create_time_ms INTEGER NOT NULL,
  sign_in_time_ms INTEGER
) STRICT;
CREATE INDEX user_installation ON gateway_user (installation_role) WHERE installation_role IS NOT NULL;

CREATE TABLE membership (
  account_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  create_time_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX membership_user ON membership (user_id, account_id);

CREATE TABLE session (
  id TEXT PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  user_id TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  use_time_ms INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('password', 'oidc')),
  proof_time_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX session_of_user ON session (user_id, create_time_ms);

CREATE TABLE link (
  id TEXT PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('first_operator', 'invitation', 'password')),
  account_id TEXT,
  role TEXT CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  installation_role TEXT CHECK (installation_role IN ('operator', 'auditor')),
  email TEXT,
  user_id TEXT,
  create_time_ms INTEGER NOT NULL,
  expire_time_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX link_end ON link (expire_time_ms);
CREATE INDEX link_account ON link (account_id, id);
CREATE INDEX link_email ON link (email, id) WHERE email IS NOT NULL;

CREATE TABLE known_address (
  user_id TEXT NOT NULL,
  address TEXT NOT NULL,
  use_time_ms INTEGER NOT NULL,
  PRIMARY KEY (user_id, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE second_factor (
  user_id TEXT PRIMARY KEY,
  sealed BLOB NOT NULL,
  last_step INTEGER NOT NULL,
  create_time_ms INTEGER NOT NULL,
  confirm_time_ms INTEGER
) STRICT;

CREATE TABLE recovery_code (
  user_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE oidc_identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oidc_identity_user ON oidc_identity (user_id, issuer);

CREATE TABLE oidc_used (
  digest BLOB PRIMARY KEY,
  expire_time_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oidc_used_end ON oidc_used (expire_time_ms);

CREATE TABLE account_security (
  account_id TEXT PRIMARY KEY,
  second_factor_required INTEGER NOT NULL CHECK (second_factor_required IN (0, 1))
) STRICT;

CREATE TABLE playground_key (
  user_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  PRIMARY KEY (user_id, account_id)
) STRICT, WITHOUT ROWID;
`;
