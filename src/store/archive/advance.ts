/** One step of an archive: from the rows of an account's next places, what its archive ends with then. */
import assert from "node:assert";
import { CHAIN_START } from "../../ledger/hash-chain.js";
import { digestOf, type DigestedValue } from "../digest.js";
import type { EndColumns } from "./database.js";
import { type ArchivePlan, type PlaceColumns, planOf } from "./plan.js";

export interface Advance {
  readonly accountId: string;
  readonly from: number;
  readonly to: number;
  /** Where its archive ends now; undefined where it has none. */
  readonly end: EndColumns | undefined;
  readonly rows: readonly PlaceColumns[];
  readonly refunded: ReadonlySet<bigint>;
}

/** Throws where another archive was here meanwhile. `values` are those of the account's archive, with their digest. */
export function planAdvance({ accountId, from, to, end, rows, refunded }: Advance): {
  readonly plan: ArchivePlan;
  readonly values: readonly DigestedValue[];
} {
  if (Number(end?.account_sequence ?? 0n) !== from)
    throw new Error(`Another archive took transfers of the account ${accountId} meanwhile: run this one again.`);
  const next = rows.filter(({ waiting }) => waiting === 0n);
  const last = next.at(-1);
  assert(next.length === to - from && Number(last?.account_sequence) === to, "a chain has no gaps");
  const plan = planOf(rows, refunded, end?.hash ?? Buffer.from(CHAIN_START.hash, "hex"));
  const values = [
    accountId,
    to,
    last?.sequence ?? 0n,
    last?.hash ?? null,
    (end?.transfer_count ?? 0n) + BigInt(plan.gone.length),
    (end?.available_nanos ?? 0n) + plan.availableNanos,
    (end?.held_nanos ?? 0n) + plan.heldNanos,
  ];
  return { plan, values: [...values, digestOf(...values)] };
}
