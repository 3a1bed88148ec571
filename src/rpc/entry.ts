/** Transfers as the protocol shows them. */
import type { Entry } from "../api/index.js";
import type { EntryRow } from "../store/store.js";

export function entryOf(row: EntryRow): Entry {
  return {
    id: row.id,
    kind: row.kind,
    sequence: BigInt(row.sequence),
    amountNanos: row.amountNanos,
    availableChangeNanos: row.availableChangeNanos,
    heldChangeNanos: row.heldChangeNanos,
    requestId: row.requestId,
    createTime: new Date(row.createTimeMs),
    debitAccount: row.debitAccount,
    creditAccount: row.creditAccount,
    reason: row.reason,
    actor: row.actor,
  };
}
