/** What an anchor is over, and how the proof follows anchors. */
import { hash } from "node:crypto";
import { CHAIN_START } from "../../ledger/hash-chain.js";
import { hexOf } from "../digest.js";

export interface AnchorColumns extends HeadsColumns {
  readonly number: bigint;
  readonly create_time_ms: bigint;
  readonly hash: Uint8Array;
}

/** How many chains there are, and the digest of all their ends. */
export interface HeadsColumns {
  readonly account_count: bigint;
  readonly heads: Uint8Array;
}

export const HEADS_DIGEST = `SELECT count(*) AS account_count, sha256(convert_to(coalesce(string_agg(
  account_id || ' ' || account_sequence || ' ' || encode(hash, 'hex'), E'\\n' ORDER BY account_id), ''), 'UTF8'))
  AS heads FROM anchor_head`;

export const ANCHOR_CHAIN = "SELECT number, create_time_ms, account_count, heads, hash FROM anchor ORDER BY number";

/** Each account's chain still passes where it ended when the last anchor was made. */
export const ANCHORED = `SELECT 'The account ' || anchor_head.account_id || ' had other transfers up to number ' ||
  anchor_head.account_sequence || ' when the last anchor was made.'
  FROM anchor_head LEFT JOIN transfer USING (account_id, account_sequence)
  WHERE transfer.hash IS NULL OR transfer.hash <> anchor_head.hash`;

/** The hash of an anchor over the one before it and over all that it says. */
export function anchorHash(previous: string, row: Omit<AnchorColumns, "hash">): string {
  const { number, create_time_ms: timeMs, account_count: accounts, heads } = row;
  return hash("sha256", `${previous} ${number} ${timeMs} ${accounts} ${hexOf(heads)}`, "hex");
}

/** Follows the anchors up to the first that does not fit. */
export class AnchorProof {
  #problem: string | undefined;
  #number = 0n;
  #hash = CHAIN_START.hash;
  #last: AnchorColumns | undefined;

  /** Takes the rows of `ANCHOR_CHAIN` in their order. */
  take(row: AnchorColumns): void {
    if (row.number !== this.#number + 1n)
      this.#problem ??= `The anchor ${row.number} follows anchor ${this.#number}: some between are gone.`;
    else if (hexOf(row.hash) !== anchorHash(this.#hash, row))
      this.#problem ??= `The anchor ${row.number} was changed: its hash does not fit the one before it.`;
    this.#number = row.number;
    this.#hash = hexOf(row.hash);
    this.#last = row;
  }

  /** The last one is over the ends of chains that are kept. */
  end(kept: HeadsColumns | undefined): readonly string[] {
    const fits = this.#last === undefined ? kept?.account_count === 0n : isOver(this.#last, kept);
    if (!fits) this.#problem ??= `The anchor ${this.#number} is not over the ends of chains that are kept of it.`;
    return this.#problem === undefined ? [] : [this.#problem];
  }
}

function isOver(anchor: AnchorColumns, kept: HeadsColumns | undefined): boolean {
  return kept?.account_count === anchor.account_count && Buffer.compare(kept.heads, anchor.heads) === 0;
}
