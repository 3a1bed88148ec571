/**
 * The tables in PostgreSQL, as steps from each version of the schema to the next. A step that was released never
 * changes.
 */
import { ALERTS } from "../alert-schema.js";
import { ARCHIVE, ARCHIVE_TRIGGERS_POSTGRES } from "../archive-schema.js";
import { CREDIT_LINES } from "../credit-line-schema.js";
import { FILE_STATES } from "../file-state-schema.js";
import { METERS, METERS_BY_ACCOUNT } from "../meter-schema.js";
import { OPERATOR_COSTS } from "../operator-cost-schema.js";
import { PASSKEYS } from "../passkey-schema.js";
import { PAYMENTS } from "../payment-schema.js";
import { ACCOUNT_PLANS } from "../plan-schema.js";
import { PRICE_LISTS } from "../price-list-schema.js";
import { QUOTAS } from "../quota-schema.js";
import { SETTINGS_OBJECTS } from "../settings-schema.js";
import { LINK_GIVERS, PEOPLE } from "../people-schema.js";
import { AUDIT, IDENTITY, KEYS } from "../sqlite/schema.js";
import { appendOnly, LEDGER_TABLES } from "./ledger-schema.js";

export interface PostgresMigration {
  /** The version that it leads to, without gaps. The first makes a new database. */
  readonly version: number;
  readonly sql: string;
  /**
   * The oldest program that can go on beside it: the newest version of the schema that it knows, and its own version,
   * to be told. A node that is older refuses to start.
   */
  readonly serves: { readonly version: number; readonly program: string };
}

/** Texts are ordered by their bytes, as SQLite orders them and page tokens count on it. */
function inPostgres(tables: string): string {
  return tables
    .replaceAll(/\bINTEGER\b/g, "BIGINT")
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(/\bBLOB\b/g, "BYTEA")
    .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ");");
}

const PROBE = `CREATE TABLE probe (id bigint PRIMARY KEY CHECK (id = 1), count bigint NOT NULL);
INSERT INTO probe (id, count) VALUES (1, 0);
`;

const IDENTITIES = `${inPostgres(IDENTITY)}
INSERT INTO identity (id, database_id) VALUES (1, md5(gen_random_uuid()::text));
${appendOnly("identity", "identities")}${appendOnly("accepted_loss", "accepted losses")}`;

const AUDITED = `${inPostgres(AUDIT)}
INSERT INTO audit_head (id, sequence, hash) VALUES (1, 0, decode(repeat('00', 32), 'hex'));
${appendOnly("audit_event", "audit records")}`;

/** Answers with an Idempotency-Key. The node that claimed a key is the only one that may run its request. */
const ANSWERS = inPostgres(`
CREATE TABLE answer (
  id BLOB PRIMARY KEY,
  account_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  claim_time TIMESTAMPTZ NOT NULL,
  print BLOB NOT NULL,
  record BLOB,
  record_bytes INTEGER NOT NULL,
  record_until_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL
);
CREATE INDEX answer_until ON answer (until_ms);
CREATE INDEX answer_record ON answer (record_until_ms, record_bytes) WHERE record_bytes > 0;
CREATE INDEX answer_account_record ON answer (account_id, record_until_ms, record_bytes) WHERE record_bytes > 0;
CREATE INDEX answer_account ON answer (account_id, until_ms);
`);

const ARCHIVED = `${inPostgres(ARCHIVE)}${appendOnly("archive", "archives")}
${ARCHIVE_TRIGGERS_POSTGRES}`;

/** Records of requests, some thousand in a row. */
const RECORDS = `
CREATE TABLE record_chunk (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  row_count bigint NOT NULL,
  from_ms bigint NOT NULL,
  to_ms bigint NOT NULL,
  sealed boolean NOT NULL,
  stripped boolean NOT NULL,
  facts bytea NOT NULL,
  texts bytea NOT NULL
);
ALTER TABLE record_chunk ALTER COLUMN facts SET STORAGE EXTERNAL, ALTER COLUMN texts SET STORAGE EXTERNAL;
CREATE INDEX record_chunk_time ON record_chunk (to_ms);
CREATE INDEX record_chunk_unsealed ON record_chunk (to_ms) WHERE NOT sealed;
CREATE INDEX record_chunk_unstripped ON record_chunk (to_ms) WHERE NOT stripped;
CREATE TABLE request_content (
  id text PRIMARY KEY,
  account_id text NOT NULL,
  end_user text NOT NULL,
  end_time_ms bigint NOT NULL,
  byte_count bigint NOT NULL,
  sealed bytea NOT NULL
);
ALTER TABLE request_content ALTER COLUMN sealed SET STORAGE EXTERNAL;
CREATE INDEX request_content_time ON request_content (end_time_ms);
CREATE INDEX request_content_account ON request_content (account_id, end_time_ms, byte_count);
CREATE INDEX request_content_user ON request_content (end_user) WHERE end_user <> '';
CREATE TABLE content_key (
  account_id text PRIMARY KEY,
  sealed bytea NOT NULL
);
`;

export const MIGRATIONS: readonly PostgresMigration[] = [
  {
    version: 1,
    sql:
      LEDGER_TABLES +
      inPostgres(KEYS) +
      inPostgres(PEOPLE) +
      inPostgres(PAYMENTS) +
      PROBE +
      IDENTITIES +
      AUDITED +
      ANSWERS +
      inPostgres(ALERTS) +
      RECORDS +
      ARCHIVED,
    serves: { version: 1, program: "0.1.0" },
  },
  { version: 2, sql: LINK_GIVERS, serves: { version: 1, program: "0.1.0" } },
  {
    version: 3,
    sql: inPostgres(METERS).replace("DROP VIEW usage;\nCREATE VIEW", "CREATE OR REPLACE VIEW"),
    serves: { version: 1, program: "0.1.0" },
  },
  { version: 4, sql: METERS_BY_ACCOUNT, serves: { version: 1, program: "0.1.0" } },
  { version: 5, sql: inPostgres(SETTINGS_OBJECTS), serves: { version: 1, program: "0.1.0" } },
  { version: 6, sql: inPostgres(PASSKEYS + ACCOUNT_PLANS), serves: { version: 1, program: "0.1.0" } },
  { version: 7, sql: inPostgres(FILE_STATES), serves: { version: 1, program: "0.1.0" } },
  {
    version: 8,
    sql: inPostgres(OPERATOR_COSTS + CREDIT_LINES + PRICE_LISTS),
    serves: { version: 1, program: "0.1.0" },
  },
  { version: 9, sql: inPostgres(QUOTAS), serves: { version: 1, program: "0.1.0" } },
];
