/** Proves a ledger in SQLite, from its first transfer to its last, on one snapshot. */
import {
  CHAIN_START,
  type Transfer,
  holdRecord,
  leaseRecord,
  noteRecord,
  transferHash,
  transferId,
  usageRecord,
} from "../../ledger/transfer.js";
import { type TermsColumns, type TransferColumns, toTerms, toTransfer } from "../columns.js";
import { hexOf } from "../digest.js";
import { failureOf } from "./failure.js";
import type { Sqlite } from "./binding.js";
import type { VerifyReport } from "../store.js";
import { type TokenColumns, usageOf } from "../token-columns.js";
import { CHECKS } from "../verify-checks.js";
import { changedRows } from "../verify-digests.js";

/** How many sentences a report holds at most, and how many one check adds. */
const PROBLEMS_MAX = 100;
const PROBLEMS_PER_CHECK_MAX = 20;

export function verifyDatabase(database: Sqlite): VerifyReport {
  const problems: string[] = [];
  attempt(problems, "hash chains", () => brokenChains(database));
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

/** A transfer with what its hash proves beside it: the terms of a hold, or the usage of a request that it ended. */
type ChainColumns = TransferColumns &
  TermsColumns &
  TokenColumns & {
    /** Of the request that the transfer concerns; null for credits. */
    readonly cause_id: string | null;
    readonly recorded_id: string | null;
    readonly usage_source: bigint | null;
    readonly overage_nanos: bigint;
    readonly operator_cost_nanos: bigint | null;
    readonly upstream: string;
    readonly attempts: bigint;
    readonly attempt_log: string | null;
  };

const CHAIN = `SELECT transfer.*, transfer.pending_nanos AS amount_nanos, transfer.request_id AS recorded_id,
  hold.request_id AS cause_id
  FROM transfer LEFT JOIN hold ON hold.sequence = transfer.hold_sequence
  WHERE transfer.account_id = ? ORDER BY transfer.account_sequence`;

interface ChainEnd {
  readonly id: string;
  readonly chain_sequence: bigint;
  readonly chain_hash: Uint8Array;
}

/** What is wrong with each account's chain first. */
function brokenChains(database: Sqlite): readonly string[] {
  const ends = database.prepare<[], ChainEnd>("SELECT id, chain_sequence, chain_hash FROM account");
  const transfers = database.prepare<[string], ChainColumns>(CHAIN);
  const problems: string[] = [];
  for (const end of ends.iterate()) {
    const problem = brokenLink(end, transfers.iterate(end.id));
    if (problem !== undefined) problems.push(problem);
    if (problems.length === PROBLEMS_PER_CHECK_MAX) break;
  }
  return problems;
}

/** Follows a chain up to the first transfer that does not fit, with its record. What comes after proves nothing. */
function brokenLink(end: ChainEnd, rows: Iterable<ChainColumns>): string | undefined {
  let { sequence: before, hash: previous } = CHAIN_START;
  for (const row of rows) {
    const said = toTransfer({ ...row, request_id: row.cause_id });
    const name = `The transfer ${said.sequence} (${transferId(said)})`;
    if (said.accountSequence !== before + 1)
      return `${name} is number ${said.accountSequence} of its account and follows number ${before}: some are gone.`;
    if (!isProven(previous, said, row))
      return `${name} was changed, or what it recorded was: its hash does not fit the one before it in its account.`;
    ({ accountSequence: before, hash: previous } = said);
  }
  if (BigInt(before) === end.chain_sequence && previous === hexOf(end.chain_hash)) return undefined;
  return `The account ${end.id} says that its last transfer is number ${end.chain_sequence}: its chain ends otherwise.`;
}

function isProven(previous: string, said: Transfer, row: ChainColumns): boolean {
  try {
    return said.hash === transferHash(previous, said, recordOf(row));
  } catch {
    // A record that lacks a part has no spelling, so it was not written by us.
    return false;
  }
}

/** What the row carries, and not what it should: a record that is not its own does not fit either. */
function recordOf(row: ChainColumns): string {
  const terms = row.recorded_id === null ? "" : holdRecord(toTerms(row));
  if (row.reason !== null) return `${terms}${noteRecord({ reason: row.reason, actor: row.actor ?? "" })}`;
  if (row.kind === "lease" || row.kind === "return")
    return `${terms}${leaseRecord({ nodeId: row.node_id, keyId: row.key_id })}`;
  if (row.usage_source === null) return terms;
  const usage = usageRecord({
    usageSource: Number(row.usage_source),
    chargedNanos: row.posted_nanos,
    overageNanos: row.overage_nanos,
    operatorCostNanos: row.operator_cost_nanos ?? undefined,
    upstream: row.upstream,
    attempts: Number(row.attempts),
    attemptLog: row.attempt_log,
    endTimeMs: Number(row.create_time_ms),
    usage: usageOf(row),
  });
  return `${terms}${usage}`;
}

function count(database: Sqlite, from: string): number {
  try {
    return Number(database.prepare(`SELECT COUNT(*) FROM ${from}`).pluck().get());
  } catch {
    // The damage is among the problems already.
    return 0;
  }
}
