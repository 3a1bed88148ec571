/** The tables of published prices that are refreshed, for both databases. */
export const PRICE_LISTS = `
CREATE TABLE price_list (
  revision INTEGER PRIMARY KEY,
  serial INTEGER NOT NULL,
  create_time_ms INTEGER NOT NULL,
  actor TEXT NOT NULL,
  cause TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT;
CREATE INDEX price_list_serial ON price_list (serial, revision);
CREATE TABLE price_snapshot (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  serial INTEGER NOT NULL,
  document TEXT NOT NULL,
  first_time_ms INTEGER NOT NULL,
  read_time_ms INTEGER NOT NULL,
  next_time_ms INTEGER NOT NULL,
  problem TEXT NOT NULL
) STRICT;
`;
