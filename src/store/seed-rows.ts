/** What a settings file makes and changes in the database, in one transaction. */
import type { Act, AuditEvent } from "../audit/act.js";
import type { CreditOperation, LedgerResult } from "../ledger/operation.js";
import type { AccountChange, AccountRow, KeyRow, NewAccountRow } from "./store.js";

/**
 * What a settings file has to do with an account or a key. Empty: nothing, or it made it once. `managed`: it names it,
 * and changes it. `removed`: it named it, and disabled it.
 */
export type FileState = "" | "managed" | "removed";

export interface AccountEdit {
  readonly id: string;
  readonly change: AccountChange;
  /** Of the account that the change was made for. */
  readonly etag: string;
}

/** The row replaces the one with the revision before, and the event records that. */
export interface KeyEdit {
  readonly row: KeyRow;
  readonly event: AuditEvent;
}

/** New rows are made where they are not there yet: accounts, credit by its id, keys by their digest. */
export interface SeedRows {
  readonly accounts: readonly NewAccountRow[];
  readonly credits: readonly CreditOperation[];
  /** Each with the record of its making. */
  readonly keys: readonly { readonly row: KeyRow; readonly event: AuditEvent }[];
  readonly accountEdits: readonly AccountEdit[];
  readonly keyEdits: readonly KeyEdit[];
  readonly act: Act;
}

/** What is there then, in the order of the rows. */
export interface SeedOutcome {
  /**
   * Why nothing was done: `credit`: a credit was refused for more than that its id was given before; `stale`: a row has
   * changed since its edit was made. Undefined: all was done.
   */
  readonly refused: "credit" | "stale" | undefined;
  readonly accounts: readonly { readonly row: AccountRow; readonly opened: boolean }[];
  readonly credits: readonly LedgerResult[];
  readonly keys: readonly KeyRow[];
}

/** Why the whole transaction is undone, after what its parts gave. */
export function refusalOf(
  credits: SeedOutcome["credits"],
  edited: readonly (AccountRow | "stale" | boolean | undefined)[],
): SeedOutcome["refused"] {
  if (credits.some((result) => result.kind === "refused" && result.problem !== "id_taken")) return "credit";
  const isDone = (one: (typeof edited)[number]): boolean => one === true || typeof one === "object";
  return edited.every(isDone) ? undefined : "stale";
}
