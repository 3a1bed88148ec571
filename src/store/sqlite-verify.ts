/** Proves a ledger in SQLite, from its first transfer to its last, on one snapshot. */
import { CHAIN_START, type ChainHead, transferHash } from "../ledger/transfer.js";
import { type TransferColumns, toTransfer } from "./sqlite-columns.js";
import { failureOf } from "./sqlite-failure.js";
import type { Sqlite } from "./sqlite-file.js";
import type { VerifyReport } from "./store.js";
import { CHECKS } from "./verify-checks.js";

/** How many sentences a report holds at most, and how many one check adds. */
const PROBLEMS_MAX = 100;
const PROBLEMS_PER_CHECK_MAX = 20;

export function verifyDatabase(database: Sqlite): VerifyReport {
  const problems: string[] = [];
  attempt(problems, "hash chain", () => verifyChain(database));
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
    openHoldCount: count(database, "hold WHERE state = 'held'"),
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

/** Follows the chain up to the first transfer that does not fit. What comes after proves nothing. */
function verifyChain(database: Sqlite): readonly string[] {
  let head: ChainHead = CHAIN_START;
  for (const row of database.prepare<[], TransferColumns>("SELECT * FROM transfer ORDER BY sequence").iterate()) {
    const transfer = toTransfer(row);
    const name = `The transfer ${transfer.sequence} (${transfer.id})`;
    if (transfer.sequence !== head.sequence + 1)
      return [`${name} follows transfer ${head.sequence}: those between them are gone.`];
    if (!transfer.previousHash.equals(head.hash)) return [`${name} does not carry the hash of the one before it.`];
    if (!transfer.hash.equals(transferHash(transfer))) return [`${name} was changed: its hash does not fit it.`];
    head = transfer;
  }
  return [];
}

function count(database: Sqlite, from: string): number {
  try {
    return Number(database.prepare(`SELECT COUNT(*) FROM ${from}`).pluck().get());
  } catch {
    // The damage is among the problems already.
    return 0;
  }
}
