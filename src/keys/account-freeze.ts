/** Requests of a frozen account are refused where permissions are checked; the ledger has the last word at the hold. */
import { GatewayError } from "../base/errors.js";
import type { Caller } from "./caller.js";

/** Throws ACCOUNT_FROZEN. */
export function requireUnfrozen({ accountId, freezeReason }: Pick<Caller, "accountId" | "freezeReason">): void {
  if (freezeReason === undefined) return;
  throw new GatewayError("ERROR_REASON_ACCOUNT_FROZEN", { account: accountId, cause: freezeReason });
}
