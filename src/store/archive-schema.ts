/**
 * What stays in a database of transfers that were archived: which months are in files, how far each account's chain is
 * there, what the transfers that are gone come to, and which ones of those places stay.
 */
import { TOKEN_COLUMNS_TABLE } from "./token-columns.js";

/**
 * `archive_account` has the last archived transfer of an account, how many are gone, and what stood on the account
 * then. `archive_day` has what the requests that are gone come to, as `usage_day` counts them, and what was charged.
 * `archive_kept` names the transfers that stay though their place is archived, each with the hash before its own;
 * those that wait go once their request or their lease is archived whole.
 */
export const ARCHIVE = `
CREATE TABLE archive (
  number INTEGER PRIMARY KEY,
  month TEXT NOT NULL UNIQUE,
  until_ms INTEGER NOT NULL,
  transfer_count INTEGER NOT NULL,
  manifest_hash BLOB NOT NULL CHECK (length(manifest_hash) = 32),
  create_time_ms INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE archive_account (
  account_id TEXT PRIMARY KEY,
  account_sequence INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  transfer_count INTEGER NOT NULL,
  available_nanos INTEGER NOT NULL,
  held_nanos INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE archive_day (
  day TEXT NOT NULL,
  account_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  request_count INTEGER NOT NULL,${TOKEN_COLUMNS_TABLE}
  cost_nanos INTEGER NOT NULL,
  operator_cost_nanos INTEGER NOT NULL,
  margin_nanos INTEGER NOT NULL,
  charged_nanos INTEGER NOT NULL,
  PRIMARY KEY (day, account_id, key_id, model)
) STRICT, WITHOUT ROWID;

CREATE TABLE archive_kept (
  sequence INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32),
  waits INTEGER NOT NULL CHECK (waits IN (0, 1))
) STRICT;
CREATE INDEX archive_kept_account ON archive_kept (account_id, waits);
`;

/** A transfer goes only where its account's chain is archived up to it, and where it is not one that stays. */
const ARCHIVED = `EXISTS (SELECT 1 FROM archive_account WHERE account_id = OLD.account_id
    AND account_sequence >= OLD.account_sequence)
  AND NOT EXISTS (SELECT 1 FROM archive_kept WHERE sequence = OLD.sequence)`;

/** The place is one of the account's chain, and older than what the newest archive has. A copy brings it first. */
const ON_CHAIN = `EXISTS (SELECT 1 FROM transfer WHERE account_id = NEW.account_id
    AND account_sequence = NEW.account_sequence AND sequence = NEW.sequence AND hash = NEW.hash
    AND create_time_ms < (SELECT max(until_ms) FROM archive))`;
const IS_COPIED = "NOT EXISTS (SELECT 1 FROM transfer WHERE account_id = NEW.account_id)";

interface Rule {
  readonly table: string;
  readonly action: "INSERT" | "UPDATE" | "DELETE";
  readonly holds: string;
  readonly says: string;
}

/** What the rows allow, to the archive and to everybody else. */
const RULES: readonly Rule[] = [
  { table: "transfer", action: "DELETE", holds: ARCHIVED, says: "transfers are append-only" },
  {
    table: "archive_account",
    action: "INSERT",
    holds: `(${ON_CHAIN} OR ${IS_COPIED})`,
    says: "an archive ends on its chain",
  },
  {
    table: "archive_account",
    action: "UPDATE",
    holds: `NEW.account_id = OLD.account_id AND NEW.account_sequence > OLD.account_sequence AND ${ON_CHAIN}`,
    says: "an archive only goes on",
  },
  { table: "archive_account", action: "DELETE", holds: "FALSE", says: "an archive only goes on" },
  {
    table: "archive_kept",
    action: "UPDATE",
    holds: `NEW.sequence = OLD.sequence AND NEW.account_id = OLD.account_id
      AND NEW.previous_hash = OLD.previous_hash AND NEW.waits = 0`,
    says: "what an archive kept stays",
  },
  { table: "archive_kept", action: "DELETE", holds: "OLD.waits = 1", says: "what an archive kept stays" },
];

export const ARCHIVE_TRIGGERS = RULES.map(
  ({ table, action, holds, says }) => `
CREATE TRIGGER ${table}_${action.toLowerCase()} BEFORE ${action} ON ${table} WHEN NOT (${holds})
BEGIN SELECT RAISE(ABORT, '${says}'); END;`,
).join("");

export const ARCHIVE_TRIGGERS_POSTGRES = RULES.map(
  ({ table, action, holds, says }) => `
CREATE FUNCTION refuse_${table}_${action.toLowerCase()}() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN IF NOT (${holds}) THEN RAISE EXCEPTION '${says}'; END IF;
  RETURN ${action === "DELETE" ? "OLD" : "NEW"}; END $$;
CREATE TRIGGER ${table}_${action.toLowerCase()} BEFORE ${action} ON ${table}
  FOR EACH ROW EXECUTE FUNCTION refuse_${table}_${action.toLowerCase()}();
`,
).join("");
