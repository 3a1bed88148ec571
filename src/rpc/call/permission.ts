/** What a method asks of its caller: a scope, and an address that the key may come from. */
import type { MethodPermission } from "../../api/descriptors.js";
import { GatewayError } from "../../base/errors.js";
import { PROOF_MS } from "../../identity/user-caller.js";
import type { Caller, CallerUser } from "../../keys/caller.js";
import { scopeMissing } from "../../keys/scope-missing.js";

/** The scope that a permission asks for; empty where any valid key will do. */
export function scopeOf(permission: MethodPermission): string {
  return permission.operator ? "operator" : permission.scope;
}

/**
 * Throws USER_MISSING, SECOND_FACTOR_REQUIRED, PROOF_NEEDED, SCOPE_MISSING or ROLE_MISSING, then ADDRESS_NOT_ALLOWED.
 * An unknown address passes only keys without such a limit.
 */
export function requirePermission(permission: MethodPermission, caller: Caller, address: string): void {
  const scope = scopeOf(permission);
  if (permission.user === true && caller.user === undefined) throw new GatewayError("ERROR_REASON_USER_MISSING");
  if (caller.user !== undefined) requirePerson(permission, caller.user);
  if (scope !== "" && !caller.may(scope, permission.reads === true)) throw scopeMissing(caller, scope);
  if (!caller.mayComeFrom(address))
    throw new GatewayError("ERROR_REASON_ADDRESS_NOT_ALLOWED", { address: address || "unknown" });
}

/** What is asked of people beside their role, where it is due: a second factor, and a password shown of late. */
function requirePerson({ user: isOwn, fresh }: MethodPermission, user: CallerUser): void {
  if (user.lacksSecondFactor && isOwn !== true) throw new GatewayError("ERROR_REASON_SECOND_FACTOR_REQUIRED");
  if (fresh === true && !user.isFresh)
    throw new GatewayError("ERROR_REASON_PROOF_NEEDED", { minutes: String(PROOF_MS / 60_000) });
}

/** Throws SCOPE_MISSING. */
export function requireScope(scope: string, caller: Caller): void {
  if (!caller.hasScope(scope)) throw scopeMissing(caller, scope);
}
