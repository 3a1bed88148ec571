/** The table of quotas, for both databases. */

/** One row a quota: its window, and what the requests of the window used or may use. */
export const QUOTAS = `
CREATE TABLE quota (
  owner TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  period INTEGER NOT NULL,
  model TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  end_ms INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  nanos INTEGER NOT NULL,
  PRIMARY KEY (owner, owner_id, period, model)
) STRICT;
`;
