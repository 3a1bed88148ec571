/** What an archive asks of a database. A driver implements it beside those that serve from it. */
import { SOURCE_NONE } from "../../ledger/rows.js";
import type { Act } from "../../audit/act.js";
import type { ChainColumns } from "../chain-proof.js";
import { CHAIN_START } from "../../ledger/hash-chain.js";
import { digestOf, type DigestedValue, hexOf } from "../digest.js";
import type { VerifyReport } from "../store.js";
import { TOKEN_COLUMNS } from "../token-columns.js";
import { METER, type SqlDialect } from "../verify-checks.js";
import { ARCHIVE_ACCOUNT_VALUES, ARCHIVE_VALUES } from "../verify-digests.js";

/** A month that is in files. */
export interface ArchiveRow {
  readonly number: number;
  readonly month: string;
  readonly untilMs: number;
  readonly transferCount: number;
  /** In hex. */
  readonly manifestHash: string;
  readonly createTimeMs: number;
}

/** An account with the end of its archive, and the last place that must stay. */
export interface ArchiveAccount {
  readonly id: string;
  readonly place: number;
  /** In hex; zeros where nothing is archived. */
  readonly hash: string;
  readonly last: number;
}

/** What the database says of the archived transfers of an account. */
export interface ArchivedAccount {
  readonly id: string;
  readonly place: number;
  readonly hash: string;
  readonly transferCount: number;
  readonly chargedNanos: bigint;
  readonly costNanos: bigint;
}

export interface KeptRow {
  readonly sequence: number;
  /** In hex. */
  readonly hash: string;
}

export interface ArchiveDatabase {
  /** Which database it is. A copy of it is another one, and goes on with the same archive. */
  identity(): Promise<string>;
  archives(): Promise<readonly ArchiveRow[]>;
  /** The time by which a month is over, in milliseconds. */
  timeMs(): Promise<number>;
  /** When the oldest transfer was made that may go; undefined where none may. */
  oldestMs(): Promise<number | undefined>;
  /** In the order of their ids. */
  accounts(afterId: string, count: number): Promise<readonly ArchiveAccount[]>;
  /** The transfers of an account behind a place, up to a last one. */
  chain(accountId: string, place: number, last: number, count: number): Promise<readonly ChainColumns[]>;
  /** From here on the month is in files. Rejects where another archive of that number or month was begun. */
  begin(row: ArchiveRow, act: Act): Promise<void>;
  /** Takes the transfers of an account out, from where its archive ends to a place, in one transaction. */
  advance(accountId: string, from: number, to: number): Promise<void>;
  archived(afterId: string, count: number): Promise<readonly ArchivedAccount[]>;
  kept(afterSequence: number, count: number): Promise<readonly KeptRow[]>;
  verify(): Promise<VerifyReport>;
  close(): Promise<void>;
}

export const ARCHIVES = `SELECT number, month, until_ms, transfer_count, manifest_hash, create_time_ms FROM archive
  ORDER BY number`;

export interface ArchiveColumns {
  readonly number: bigint;
  readonly month: string;
  readonly until_ms: bigint;
  readonly transfer_count: bigint;
  readonly manifest_hash: Uint8Array;
  readonly create_time_ms: bigint;
}

export const BEGIN = `INSERT INTO archive (${ARCHIVE_VALUES.join(", ")}, digest) VALUES (?, ?, ?, ?, ?, ?, ?)`;

export function archiveValues(row: ArchiveRow): DigestedValue[] {
  const hash = Buffer.from(row.manifestHash, "hex");
  const values = [row.number, row.month, row.untilMs, row.transferCount, hash, row.createTimeMs];
  return [...values, digestOf(...values)];
}

/** An account's last transfer stays where it is: its row, the witness and the next transfer are behind it. */
export function accountsText(last: string, joins: string): string {
  return `SELECT account.id, ${last} AS last, archive_account.account_sequence AS place, archive_account.hash
  FROM account LEFT JOIN archive_account ON archive_account.account_id = account.id ${joins}
  WHERE account.id > :afterId ORDER BY account.id LIMIT :count`;
}

export function oldestText(last: string, joins: string): string {
  return `SELECT min(transfer.create_time_ms) AS oldest FROM account
  LEFT JOIN archive_account ON archive_account.account_id = account.id ${joins}
  JOIN transfer ON transfer.account_id = account.id
    AND transfer.account_sequence = coalesce(archive_account.account_sequence, 0) + 1
  WHERE transfer.account_sequence < ${last}`;
}

export interface AccountColumns {
  readonly id: string;
  readonly last: bigint;
  readonly place: bigint | null;
  readonly hash: Uint8Array | null;
}

const PLACE = `transfer.sequence, transfer.account_sequence, kind, hold_sequence, credit_id, lease_id, node_id,
  usage_source, overage_nanos, pending_nanos, posted_nanos, hash`;

/** The transfers that an account's archive comes to next, behind those of before that wait. */
export const PLACES = `SELECT ${PLACE}, 1 AS waiting FROM archive_kept
    JOIN transfer ON transfer.sequence = archive_kept.sequence
    WHERE archive_kept.account_id = :accountId AND waits = 1
  UNION ALL SELECT ${PLACE}, 0 AS waiting FROM transfer
    WHERE account_id = :accountId AND account_sequence > :from AND account_sequence <= :to
  ORDER BY 2`;

export const REFUNDED = `SELECT DISTINCT hold_sequence FROM transfer
  WHERE account_id = ? AND kind = 'refund' AND reason IS NOT NULL`;

export const END = `SELECT account_sequence, hash, transfer_count, available_nanos, held_nanos FROM archive_account
  WHERE account_id = ?`;

export interface EndColumns {
  readonly account_sequence: bigint;
  readonly hash: Uint8Array;
  readonly transfer_count: bigint;
  readonly available_nanos: bigint;
  readonly held_nanos: bigint;
}

export const MOVE = `INSERT INTO archive_account (${ARCHIVE_ACCOUNT_VALUES.join(", ")}, digest)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (account_id) DO UPDATE SET ${[...ARCHIVE_ACCOUNT_VALUES, "digest"]
    .slice(1)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")}`;

const DAY_SUMS = ["request_count", ...TOKEN_COLUMNS, "cost_nanos", "operator_cost_nanos", "margin_nanos"];
DAY_SUMS.push("charged_nanos");
/** Of a request that generated nothing only what it cost the operator counts. */
const counted = (value: string): string => `SUM(CASE usage_source WHEN ${SOURCE_NONE} THEN 0 ELSE ${value} END)`;

/** Adds the requests of these holds to what is gone of their days. `list` is a query of sequences. */
export function addDaysText({ day }: SqlDialect, list: string): string {
  return `INSERT INTO archive_day (day, account_id, key_id, model, ${DAY_SUMS.join(", ")})
  SELECT ${day("hold.create_time_ms")} AS day, hold.account_id, hold.key_id, hold.model, ${counted("1")},
    ${TOKEN_COLUMNS.map((name) => counted(`usage.${name}`)).join(", ")}, ${counted("charged_nanos + overage_nanos")},
    SUM(coalesce(operator_cost_nanos, 0)), SUM(coalesce(charged_nanos - operator_cost_nanos, 0)), SUM(charged_nanos)
  FROM hold JOIN usage ON usage.hold_sequence = hold.sequence WHERE hold.sequence IN (${list})
  GROUP BY 1, hold.account_id, hold.key_id, hold.model
  ON CONFLICT (day, account_id, key_id, model) DO UPDATE SET
    ${DAY_SUMS.map((name) => `${name} = archive_day.${name} + excluded.${name}`).join(", ")}`;
}

/** The same of their meters. */
export function addMetersText({ day, eachMeter }: SqlDialect, list: string): string {
  return `INSERT INTO archive_day_meter (day, account_id, key_id, model, unit, variant, quantity)
  SELECT ${day("hold.create_time_ms")} AS day, hold.account_id, hold.key_id, hold.model,
    ${METER.unit}, ${METER.variant}, CAST(SUM(${METER.quantity}) AS bigint)
  FROM hold JOIN usage ON usage.hold_sequence = hold.sequence, ${eachMeter("usage.meters")}
  WHERE hold.sequence IN (${list}) AND usage_source <> ${SOURCE_NONE}
  GROUP BY 1, hold.account_id, hold.key_id, hold.model, 5, 6
  ON CONFLICT (day, account_id, key_id, model, unit, variant)
  DO UPDATE SET quantity = archive_day_meter.quantity + excluded.quantity`;
}

export const ARCHIVED = `SELECT archive_account.account_id AS id, account_sequence AS place, hash, transfer_count,
  (SELECT coalesce(SUM(charged_nanos), 0) FROM archive_day WHERE archive_day.account_id = archive_account.account_id)
    AS charged_nanos,
  (SELECT coalesce(SUM(cost_nanos), 0) FROM archive_day WHERE archive_day.account_id = archive_account.account_id)
    AS cost_nanos
  FROM archive_account WHERE archive_account.account_id > ? ORDER BY archive_account.account_id LIMIT ?`;

export interface ArchivedColumns {
  readonly id: string;
  readonly place: bigint;
  readonly hash: Uint8Array;
  readonly transfer_count: bigint;
  readonly charged_nanos: bigint;
  readonly cost_nanos: bigint;
}

export const KEPT = `SELECT archive_kept.sequence, hash FROM archive_kept
  JOIN transfer ON transfer.sequence = archive_kept.sequence
  WHERE archive_kept.sequence > ? ORDER BY archive_kept.sequence LIMIT ?`;

export function toArchive(row: ArchiveColumns): ArchiveRow {
  return {
    number: Number(row.number),
    month: row.month,
    untilMs: Number(row.until_ms),
    transferCount: Number(row.transfer_count),
    manifestHash: hexOf(row.manifest_hash),
    createTimeMs: Number(row.create_time_ms),
  };
}

export function toAccount({ id, last, place, hash }: AccountColumns): ArchiveAccount {
  return {
    id,
    last: Number(last),
    place: Number(place ?? 0n),
    hash: hash === null ? CHAIN_START.hash : hexOf(hash),
  };
}

export function toArchived(row: ArchivedColumns): ArchivedAccount {
  return {
    id: row.id,
    place: Number(row.place),
    hash: hexOf(row.hash),
    transferCount: Number(row.transfer_count),
    chargedNanos: row.charged_nanos,
    costNanos: row.cost_nanos,
  };
}
