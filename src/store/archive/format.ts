/**
 * The form of an archive's two files. Of each month there is one with its transfers, a JSON object a line, account by
 * account in the order of the chains, compressed with gzip; and its manifest, JSON lines as well: a first line that
 * says which archive it is and has the hash of the manifest before it, one for each account, and a last line with the
 * counts and the hash of the file. Whole numbers are decimal texts, bytes are hex, and what is null is left out.
 */
import { z } from "zod";
import type { TransferKind } from "../../ledger/transfer.js";
import type { ChainColumns } from "../chain-proof.js";
import { hexOf } from "../digest.js";
import { TOKEN_COLUMNS } from "../token-columns.js";

const TEXTS = ["kind", "account_id", "credit_id", "key_id", "model", "node_id", "lease_id", "upstream", "attempt_log"];
TEXTS.push("meters", "reason", "actor", "recorded_id", "request_id", "cause_id");
const BYTES = ["hash", "price"];
const NUMBERS = ["sequence", "account_sequence", "hold_sequence", "pending_nanos", "posted_nanos", "create_time_ms"];
NUMBERS.push("wanted_nanos", "expire_time_ms", "usage_source", "overage_nanos", "operator_cost_nanos", "attempts");
NUMBERS.push("amount_nanos", ...TOKEN_COLUMNS);
/** Of a hold these two are its own id and amount, which stand in other columns. */
const DOUBLE = new Set(["request_id", "amount_nanos"]);

export function transferLine(row: ChainColumns): string {
  const line: Record<string, string> = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === null || DOUBLE.has(name)) continue;
    line[name] = value instanceof Uint8Array ? hexOf(value) : String(value);
  }
  return `${JSON.stringify(line)}\n`;
}

/** Throws where the line is none of a transfer. */
export function readTransferLine(text: string): ChainColumns {
  const line: unknown = JSON.parse(text);
  if (typeof line !== "object" || line === null) throw new Error("a line is no transfer");
  const row: Record<string, unknown> = {};
  const said = new Map(Object.entries(line));
  for (const name of TEXTS) row[name] = textOf(said, name) ?? null;
  for (const name of BYTES) {
    const text = textOf(said, name);
    if (text !== undefined && !/^([0-9a-f]{2})*$/.test(text)) throw new Error(`'${name}' is not hex`);
    row[name] = text === undefined ? null : new Uint8Array(Buffer.from(text, "hex"));
  }
  for (const name of NUMBERS) {
    const text = textOf(said, name);
    if (text !== undefined && !/^-?\d{1,19}$/.test(text)) throw new Error(`'${name}' is not a whole number`);
    row[name] = text === undefined ? null : BigInt(text);
  }
  for (const name of said.keys()) if (!(name in row)) throw new Error("a line has a part that no transfer has");
  return { ...row, request_id: row["recorded_id"], amount_nanos: row["pending_nanos"] } as unknown as ChainColumns;
}

function textOf(said: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = said.get(name);
  if (value === undefined || typeof value === "string") return value;
  throw new Error(`'${name}' is not a text`);
}

const HASH = z.string().regex(/^[0-9a-f]{64}$/);
const WHOLE = z.int().min(0);
const NANOS = z.string().regex(/^-?\d{1,19}$/);

const HEAD = z.strictObject({
  tollgate_archive: z.literal(1),
  database: z.string(),
  number: z.int().min(1),
  month: z.string().regex(/^\d{4}-\d{2}$/),
  /** Of the manifest before it; zeros in the first. */
  previous: HASH,
});
const PLACE = z.strictObject({ place: WHOLE, hash: HASH });
const SUM = z.strictObject({ count: WHOLE, pending_nanos: NANOS, posted_nanos: NANOS });
const ACCOUNT = z.strictObject({
  account: z.string(),
  from: PLACE,
  to: PLACE,
  sums: z.record(z.string(), SUM),
});
const END = z.strictObject({ accounts: WHOLE, transfers: WHOLE, file: z.string(), file_sha256: HASH });

export type ManifestHead = z.infer<typeof HEAD>;
export type ManifestAccount = z.infer<typeof ACCOUNT>;
export type ManifestEnd = z.infer<typeof END>;

export const manifest = {
  head: (text: string): ManifestHead => HEAD.parse(JSON.parse(text)),
  /** The account of a line, or the end. */
  line: (text: string): ManifestAccount | ManifestEnd => z.union([ACCOUNT, END]).parse(JSON.parse(text)),
} as const;

/** What transfers of an account come to, by their kind. */
export class KindSums {
  readonly #sums = new Map<TransferKind, { count: number; pending: bigint; posted: bigint }>();

  add({ kind, pending_nanos: pending, posted_nanos: posted }: ChainColumns): void {
    const sum = this.#sums.get(kind) ?? { count: 0, pending: 0n, posted: 0n };
    sum.count += 1;
    sum.pending += pending;
    sum.posted += posted;
    this.#sums.set(kind, sum);
  }

  told(): ManifestAccount["sums"] {
    const kinds = [...this.#sums].sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(
      kinds.map(([kind, { count, pending, posted }]) => [
        kind,
        { count, pending_nanos: String(pending), posted_nanos: String(posted) },
      ]),
    );
  }
}

export function fileName(month: string): string {
  return `transfers-${month}.jsonl.gz`;
}

export function manifestName(month: string): string {
  return `manifest-${month}.jsonl`;
}
