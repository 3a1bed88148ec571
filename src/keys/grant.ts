/** What a caller may do to keys: nobody reaches another account's keys, or rights above its own. */
import type { Key, KeySettings } from "../api/index.js";
import { GatewayError } from "../errors.js";
import type { Caller } from "./caller.js";

/** A key to be made. */
export interface KeyWish {
  readonly accountId: string;
  readonly settings: KeySettings | undefined;
  /** A secret to import; empty or absent: one is made. */
  readonly secret?: string | undefined;
}

/**
 * Throws where the caller may not make such a key: for another account, as an operator's, or with a secret of its own
 * choice.
 */
export function requireMayCreate(caller: Caller, wish: KeyWish): void {
  if (caller.hasScope("operator")) return;
  if (wish.accountId !== caller.accountId)
    throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "account", id: wish.accountId });
  if (wish.secret !== undefined && wish.secret !== "") throw operatorMissing(caller);
  requireMayGrant(caller, wish.settings);
}

/** Throws where the settings hold the operator's scope and the caller has it not. */
export function requireMayGrant(caller: Caller, settings: KeySettings | undefined): void {
  if (settings?.scopes.includes("operator") === true && !caller.hasScope("operator")) throw operatorMissing(caller);
}

/**
 * Throws where the caller may not see or change the key. An operator's key is above those of its account: who could
 * rotate it would hold an operator's secret.
 */
export function requireMayManage(caller: Caller, key: Key): void {
  if (caller.hasScope("operator")) return;
  if (key.accountId !== caller.accountId)
    throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "key", id: key.id });
  requireMayGrant(caller, key.settings);
}

function operatorMissing(caller: Caller): GatewayError {
  return new GatewayError("ERROR_REASON_SCOPE_MISSING", {
    scope: "operator",
    scopes: caller.settings.scopes.join(" "),
  });
}
