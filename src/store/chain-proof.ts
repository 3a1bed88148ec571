/** The proof of the accounts' chains, row by row: each hash fits its transfer, its record and the one before it. */
import assert from "node:assert/strict";
import { metersIn, metersText } from "../api/meters.js";
import { CHAIN_START, holdRecord, leaseRecord, noteRecord, transferHash, usageRecord } from "../ledger/hash-chain.js";
import { type Transfer, transferId } from "../ledger/transfer.js";
import { hexOf } from "./digest.js";
import { type TermsColumns, type TransferColumns, toTerms, toTransfer } from "./columns.js";
import { TOKEN_COLUMNS, type TokenColumns, usageOf } from "./token-columns.js";

/** A transfer with what its hash proves beside it: the terms of a hold, or the usage of a request that it ended. */
export type ChainColumns = TransferColumns &
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
    readonly meters: string | null;
  };

/** A transfer in the database, with how far its account is archived, and the hash before it where it was kept. */
export type DatabaseChainColumns = ChainColumns & {
  readonly archived_sequence: bigint | null;
  readonly archived_hash: Uint8Array | null;
  readonly previous_hash: Uint8Array | null;
};

const OWN = ["sequence", "kind", "account_id", "account_sequence", "hold_sequence", "credit_id", "pending_nanos"];
OWN.push("posted_nanos", "create_time_ms", "hash", "key_id", "model", "node_id", "wanted_nanos", "price");
OWN.push("expire_time_ms", "lease_id", "usage_source", "overage_nanos", "operator_cost_nanos", "upstream", "attempts");
OWN.push("attempt_log", "meters", "reason", "actor", ...TOKEN_COLUMNS);

const CHAIN_COLUMNS = `${OWN.map((name) => `transfer.${name}`).join(", ")},
  transfer.pending_nanos AS amount_nanos, transfer.request_id AS recorded_id, transfer.request_id,
  hold.request_id AS cause_id`;

/** All transfers, account by account, each account's in the order of its chain. */
export const CHAINS = `SELECT ${CHAIN_COLUMNS}, archive_account.account_sequence AS archived_sequence,
  archive_account.hash AS archived_hash, archive_kept.previous_hash
  FROM transfer LEFT JOIN hold ON hold.sequence = transfer.hold_sequence
  LEFT JOIN archive_account ON archive_account.account_id = transfer.account_id
  LEFT JOIN archive_kept ON archive_kept.sequence = transfer.sequence
  ORDER BY transfer.account_id, transfer.account_sequence`;

/** The next transfers of one account's chain behind a place. */
export const CHAIN_OF_ACCOUNT = `SELECT ${CHAIN_COLUMNS}
  FROM transfer LEFT JOIN hold ON hold.sequence = transfer.hold_sequence
  WHERE transfer.account_id = :accountId AND transfer.account_sequence > :place
  AND transfer.account_sequence <= :last ORDER BY transfer.account_sequence LIMIT :count`;

/** Follows each chain up to the first transfer that does not fit. What comes after it in its account proves nothing. */
export class ChainProof {
  readonly problems: string[] = [];
  readonly #problemsMax: number;
  #accountId: string | undefined;
  #sequence = 0;
  #hash = CHAIN_START.hash;
  #broken = false;

  constructor(problemsMax: number) {
    this.#problemsMax = problemsMax;
  }

  /** True where more would only repeat that the ledger is broken. */
  get isFull(): boolean {
    return this.problems.length >= this.#problemsMax;
  }

  /** Takes the rows of `CHAINS` in their order. An account's chain begins where its archive ends. */
  take(row: DatabaseChainColumns): void {
    if (row.account_id !== this.#accountId) {
      this.#accountId = row.account_id;
      this.#sequence = Number(row.archived_sequence ?? CHAIN_START.sequence);
      this.#hash = row.archived_hash === null ? CHAIN_START.hash : hexOf(row.archived_hash);
      this.#broken = false;
    }
    if (this.#broken || this.isFull) return;
    const said = chainTransfer(row);
    if (said.accountSequence <= Number(row.archived_sequence ?? 0n)) {
      this.#takeKept(said, row);
      return;
    }
    const problem = this.#problemOf(said, row);
    if (problem !== undefined) {
      this.#broken = true;
      this.problems.push(`The transfer ${said.sequence} (${transferId(said)}) ${problem}`);
    }
    this.#sequence = said.accountSequence;
    this.#hash = said.hash;
  }

  /** One that stayed behind its archive stands by itself: the hash before it is kept beside it. */
  #takeKept(said: Transfer, row: DatabaseChainColumns): void {
    const isKept = row.previous_hash !== null && isProven(hexOf(row.previous_hash), said, row);
    if (isKept) return;
    const problem = "was changed, or what the archive kept of it was: its hash does not fit.";
    this.problems.push(`The transfer ${said.sequence} (${transferId(said)}) ${problem}`);
  }

  #problemOf(said: Transfer, row: ChainColumns): string | undefined {
    if (said.accountSequence !== this.#sequence + 1)
      return `is number ${said.accountSequence} of its account and follows number ${this.#sequence}: some are gone.`;
    if (isProven(this.#hash, said, row)) return undefined;
    return "was changed, or what it recorded was: its hash does not fit the one before it in its account.";
  }
}

/** What the row says of its transfer. */
export function chainTransfer(row: ChainColumns): Transfer {
  return toTransfer({ ...row, request_id: row.cause_id });
}

/** True where the hash of a transfer fits the one before it, all that it says, and its record. */
export function isProven(previous: string, said: Transfer, row: ChainColumns): boolean {
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
  // Sums read the text itself: one that no reader takes must not pass as none.
  assert.equal(metersText(metersIn(row.meters)), row.meters ?? "");
  const usage = usageRecord({
    usageSource: Number(row.usage_source),
    chargedNanos: row.posted_nanos,
    overageNanos: row.overage_nanos,
    operatorCostNanos: row.operator_cost_nanos ?? undefined,
    upstream: row.upstream,
    attempts: Number(row.attempts),
    attemptLog: row.attempt_log,
    endTimeMs: Number(row.create_time_ms),
    usage: usageOf(row, row.meters),
  });
  return `${terms}${usage}`;
}
