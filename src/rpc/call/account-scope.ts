/** Whose rows a caller may see: an operator all, everyone else its own account's. */
import type { Caller } from "../../keys/caller.js";
import { unknown } from "../../api/check.js";

export function isOperator(caller: Pick<Caller, "hasScope">): boolean {
  return caller.hasScope("operator");
}

/** Refuses where a row of this account is none of the caller's business, as if it did not exist. */
export function checkOwner(caller: Caller, accountId: string, kind: string, id: string): void {
  if (!isOperator(caller) && caller.accountId !== accountId) throw unknown(kind, id);
}

/** The account that a list is narrowed to; undefined is all of them, which only an operator sees. */
export function accountFilter(caller: Caller, accountId: string): string | undefined {
  if (accountId === "") return isOperator(caller) ? undefined : caller.accountId;
  checkOwner(caller, accountId, "account", accountId);
  return accountId;
}
