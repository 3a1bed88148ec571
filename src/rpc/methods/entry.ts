/** Transfers as the protocol shows them. */
import { type Entry, EntryKind } from "../../api/index.js";
import type { EntryRow } from "../../store/store.js";

const KINDS: Readonly<Record<EntryRow["kind"], EntryKind>> = {
  hold: EntryKind.ENTRY_KIND_HOLD,
  settle: EntryKind.ENTRY_KIND_SETTLE,
  void: EntryKind.ENTRY_KIND_VOID,
  expire: EntryKind.ENTRY_KIND_EXPIRE,
  overage: EntryKind.ENTRY_KIND_OVERAGE,
  credit: EntryKind.ENTRY_KIND_CREDIT,
  refund: EntryKind.ENTRY_KIND_REFUND,
  debit: EntryKind.ENTRY_KIND_DEBIT,
  receivable: EntryKind.ENTRY_KIND_RECEIVABLE,
  reserve: EntryKind.ENTRY_KIND_RESERVE,
  return: EntryKind.ENTRY_KIND_RETURN,
};

export function entryOf(row: EntryRow): Entry {
  return {
    id: row.id,
    kind: KINDS[row.kind],
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
