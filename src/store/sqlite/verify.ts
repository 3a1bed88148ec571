/** Proves a ledger in SQLite, from its first transfer to its last, on one snapshot. */
import { AUDIT_CHAIN, AUDIT_HEAD, type AuditColumns, type AuditHead, AuditProof } from "../audit-rows.js";
import { ARCHIVED_UNTIL } from "../book-rows.js";
import { CHAINS, ChainProof, type DatabaseChainColumns } from "../chain-proof.js";
import type { DigestedValue } from "../digest.js";
import type { VerifyReport } from "../store.js";
import { type Check, checks, type SqlDialect, PROBLEMS_MAX, PROBLEMS_PER_CHECK_MAX } from "../verify-checks.js";
import { changedRow, DIGESTED } from "../verify-digests.js";
import type { Sqlite } from "./binding.js";
import { failureOf } from "./failure.js";

/** One process writes all, so that no place is left out. Up to where any is archived those that are gone count. */
const PLACES = `
WITH archived AS (SELECT coalesce(max(sequence), 0) AS newest, coalesce(sum(transfer_count), 0) AS gone
  FROM archive_account)
SELECT 'The transfer ' || sequence || ' follows transfer ' || before || ': those between are gone.'
FROM (SELECT sequence, lag(sequence, 1, newest) OVER (ORDER BY sequence) AS before FROM transfer, archived
  WHERE sequence > newest)
WHERE sequence <> before + 1
UNION ALL SELECT 'Of the transfers up to ' || newest || ', ' || (newest - gone - there) || ' are gone.'
FROM (SELECT newest, gone, (SELECT count(*) FROM transfer WHERE sequence <= newest) AS there FROM archived)
WHERE newest <> gone + there`;

/** Also what the indexes say: a request that its index does not find could be held twice. */
const FILE = `SELECT 'The database file is damaged: ' || integrity_check || '.' FROM pragma_integrity_check
WHERE integrity_check <> 'ok'`;

/** The column where it is a JSON list of lists, so that no other text ends a proof. */
function listIn(column: string): string {
  const others = `SELECT 1 FROM json_each(${column}) WHERE type <> 'array'`;
  return `CASE WHEN json_valid(${column}) THEN CASE WHEN NOT EXISTS (${others}) THEN ${column} END END`;
}

export const DIALECT: SqlDialect = {
  day: (timeMs) => `strftime('%Y-%m-%d', ${timeMs} / 1000, 'unixepoch')`,
  month: (timeMs) => `strftime('%Y-%m', ${timeMs} / 1000, 'unixepoch')`,
  eachMeter: (column) => `json_each(${listIn(column)}) AS meter`,
};

const CHECKS: readonly Check[] = [
  { name: "places of transfers", sql: PLACES },
  ...checks(DIALECT),
  { name: "database file", sql: FILE },
];

export function verifyDatabase(database: Sqlite): VerifyReport {
  const problems: string[] = [];
  attempt(problems, "hash chains", () => brokenChains(database));
  attempt(problems, "digests of rows", () => changedRows(database));
  attempt(problems, "chain of the audit log", () => brokenAudit(database));
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
    auditEventCount: count(database, "audit_event"),
    archivedTransferCount: whole(database, "SELECT coalesce(sum(transfer_count), 0) FROM archive_account"),
    archivedUntilMs: whole(database, ARCHIVED_UNTIL) || undefined,
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

function brokenChains(database: Sqlite): readonly string[] {
  const proof = new ChainProof(PROBLEMS_PER_CHECK_MAX);
  for (const row of database.prepare<[], DatabaseChainColumns>(CHAINS).iterate()) {
    proof.take(row);
    if (proof.isFull) break;
  }
  return proof.problems;
}

function brokenAudit(database: Sqlite): readonly string[] {
  const proof = new AuditProof();
  for (const row of database.prepare<[], AuditColumns>(AUDIT_CHAIN).iterate()) proof.take(row);
  return proof.end(database.prepare<[], AuditHead>(AUDIT_HEAD).get());
}

function changedRows(database: Sqlite): readonly string[] {
  const problems: string[] = [];
  for (const kind of DIGESTED) {
    for (const row of database.prepare<[], Record<string, DigestedValue>>(kind.sql).iterate()) {
      const problem = changedRow(kind, row);
      if (problem !== undefined) problems.push(problem);
      if (problems.length === PROBLEMS_PER_CHECK_MAX) return problems;
    }
  }
  return problems;
}

function count(database: Sqlite, from: string): number {
  return whole(database, `SELECT COUNT(*) FROM ${from}`);
}

function whole(database: Sqlite, question: string): number {
  try {
    return Number(database.prepare(question).pluck().get());
  } catch {
    // The damage is among the problems already.
    return 0;
  }
}
