/** The tables of the settings objects, for both databases. Secrets are sealed, and no revision has any. */
export const SETTINGS_OBJECTS = `
CREATE TABLE settings_object (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  spec TEXT NOT NULL,
  secrets BLOB,
  managed_by TEXT NOT NULL,
  create_time_ms INTEGER NOT NULL,
  update_time_ms INTEGER NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE settings_revision (
  revision INTEGER PRIMARY KEY,
  create_time_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  changes TEXT NOT NULL
) STRICT;
`;
