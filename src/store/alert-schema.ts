/** The tables of alerts, events and their deliveries, for both databases. */

/**
 * `event_count` has one row, whose lock puts those who make events one behind the other: whoever reads events by their
 * places misses none. `alert_state` says what an alert told of and has not taken back. A delivery's `target_id` is its
 * webhook's id, or `mailto:` and an address.
 */
export const ALERTS = `
CREATE TABLE alert (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  settings BLOB NOT NULL,
  create_time_ms INTEGER NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_account ON alert (account_id, id);

CREATE TABLE alert_state (
  alert_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  event_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  fire_time_ms INTEGER NOT NULL,
  seen_time_ms INTEGER NOT NULL,
  PRIMARY KEY (alert_id, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_turn (
  name TEXT PRIMARY KEY,
  node_id TEXT NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE alert_note (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE event_count (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  newest INTEGER NOT NULL
) STRICT;

CREATE TABLE event (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  account_id TEXT NOT NULL,
  alert_id TEXT NOT NULL,
  alert_name TEXT NOT NULL,
  subject TEXT NOT NULL,
  subject_account_id TEXT NOT NULL,
  message TEXT NOT NULL,
  facts TEXT NOT NULL,
  resolves_id TEXT,
  create_time_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_resolves ON event (resolves_id) WHERE resolves_id IS NOT NULL;
CREATE INDEX event_account ON event (account_id, sequence);
CREATE INDEX event_time ON event (create_time_ms);

CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  settings BLOB NOT NULL,
  paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
  secret BLOB NOT NULL,
  previous_secret BLOB,
  previous_until_ms INTEGER,
  create_time_ms INTEGER NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_account ON webhook (account_id, id);

CREATE TABLE delivery (
  id TEXT PRIMARY KEY,
  event_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
  attempts INTEGER NOT NULL,
  attempts_from INTEGER NOT NULL,
  next_time_ms INTEGER NOT NULL,
  busy_until_ms INTEGER NOT NULL,
  give_up_ms INTEGER NOT NULL,
  create_time_ms INTEGER NOT NULL,
  end_time_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_waiting ON delivery (next_time_ms, target_id) WHERE state = 'waiting';
CREATE INDEX delivery_target ON delivery (target_id, create_time_ms, id);
CREATE INDEX delivery_event ON delivery (event_id);
CREATE INDEX delivery_account ON delivery (account_id, create_time_ms, id);
CREATE INDEX delivery_time ON delivery (create_time_ms, id);
CREATE INDEX delivery_end ON delivery (end_time_ms) WHERE end_time_ms IS NOT NULL;

CREATE TABLE delivery_attempt (
  delivery_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  start_time_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  status INTEGER NOT NULL,
  problem TEXT NOT NULL,
  answer TEXT NOT NULL,
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;
`;
