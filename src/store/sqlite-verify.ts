/** Proves a ledger in SQLite, from its first transfer to its last, on one snapshot. */
import { CHAIN_START, type ChainHead, holdRecord, transferHash, transferId, usageRecord } from "../ledger/transfer.js";
import { type TermsColumns, type TransferColumns, toTerms, toTransfer } from "./sqlite-columns.js";
import { failureOf } from "./sqlite-failure.js";
import type { Sqlite } from "./sqlite-file.js";
import type { VerifyReport } from "./store.js";
import { TOKEN_COLUMNS, type TokenColumns, usageOf } from "./token-columns.js";
import { CHECKS } from "./verify-checks.js";
import { changedRows } from "./verify-digests.js";

/** How many sentences a report holds at most, and how many one check adds. */
const PROBLEMS_MAX = 100;
const PROBLEMS_PER_CHECK_MAX = 20;

export function verifyDatabase(database: Sqlite): VerifyReport {
  const problems: string[] = [];
  attempt(problems, "hash chain", () => verifyChain(database));
  attempt(problems, "digests of rows", () => changedRows(database, PROBLEMS_PER_CHECK_MAX));
  for (const { name, sql } of CHECKS) {
    attempt(problems, name, () => {
      const statement = database.prepare<[number], string>(`SELECT * FROM (${sql}) LIMIT ?`).pluck();
      return statement.all(PROBLEMS_PER_CHECK_MAX);
    });
  }
  return {
    holds: problems.length === 0,
    problems: problems.slice(0, PROBLEMS_MAX),
    accountCount: count(database, "account"),
    transferCount: count(database, "transfer"),
    openHoldCount: count(database, "open_hold"),
  };
}

/** A check that cannot run, as on a damaged page, is a problem of its own and stops no other check. */
function attempt(problems: string[], name: string, check: () => readonly string[]): void {
  try {
    problems.push(...check());
  } catch (error) {
    problems.push(`The check '${name}' cannot run: ${failureOf(error).message}.`);
  }
}

type UsageColumns = TokenColumns & {
  readonly usage_source: bigint | null;
  readonly charged_nanos: bigint;
  readonly overage_nanos: bigint;
  readonly upstream: string;
  readonly attempts: bigint;
  readonly attempt_log: string | null;
  readonly end_time_ms: bigint;
};
/** A transfer, its hold, and its usage where it ended a request. What two of them name is the hold's. */
type ChainColumns = TransferColumns & {
  readonly hold: string | null;
  readonly said_account_id: string;
  readonly said_time_ms: bigint;
} & TermsColumns &
  UsageColumns;

const CHAIN = `SELECT transfer.sequence, kind, transfer.account_id AS said_account_id, transfer.hold_sequence,
  credit_id, pending_nanos, posted_nanos, transfer.create_time_ms AS said_time_ms, hash, hold.request_id,
  hold.account_id, key_id, model, node_id, wanted_nanos, amount_nanos, price, hold.create_time_ms,
  expire_time_ms, usage_source, charged_nanos, overage_nanos, upstream, attempts, attempt_log, end_time_ms,
  ${TOKEN_COLUMNS.join(", ")}
  FROM transfer LEFT JOIN hold ON hold.sequence = transfer.hold_sequence
  LEFT JOIN usage ON usage.hold_sequence = transfer.hold_sequence AND usage.sequence = transfer.sequence
  ORDER BY transfer.sequence`;

/**
 * Follows the chain up to the first transfer that does not fit, or whose hold or usage does not. What comes after
 * proves nothing.
 */
function verifyChain(database: Sqlite): readonly string[] {
  let head: ChainHead = CHAIN_START;
  for (const row of database.prepare<[], ChainColumns>(CHAIN).iterate()) {
    const said = toTransfer({ ...row, account_id: row.said_account_id, create_time_ms: row.said_time_ms });
    const { sequence, hash } = said;
    const name = `The transfer ${sequence} (${transferId(said)})`;
    if (sequence !== head.sequence + 1) return [`${name} follows transfer ${head.sequence}: those between are gone.`];
    if (!hash.equals(transferHash(head.hash, sequence, said, recordOf(row))))
      return [`${name} was changed, or what it recorded was: its hash does not fit.`];
    head = { sequence, hash };
  }
  return [];
}

function recordOf(row: ChainColumns): string {
  if (row.kind === "hold") return row.request_id === null ? "" : holdRecord(toTerms(row));
  if (row.usage_source === null) return "";
  return usageRecord({
    usageSource: Number(row.usage_source),
    chargedNanos: row.charged_nanos,
    overageNanos: row.overage_nanos,
    upstream: row.upstream,
    attempts: Number(row.attempts),
    attemptLog: row.attempt_log,
    endTimeMs: Number(row.end_time_ms),
    usage: usageOf(row),
  });
}

function count(database: Sqlite, from: string): number {
  try {
    return Number(database.prepare(`SELECT COUNT(*) FROM ${from}`).pluck().get());
  } catch {
    // The damage is among the problems already.
    return 0;
  }
}
