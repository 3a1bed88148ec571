/** The refusals of who may not do something. */
import { GatewayError } from "../base/errors.js";
import type { Caller, CallerUser } from "./caller.js";

/** Of a caller whose key lacks a scope, or whose role does not give it. */
export function scopeMissing({ user, settings }: Caller, scope: string): GatewayError {
  if (user !== undefined) return roleMissing(user, scope);
  return new GatewayError("ERROR_REASON_SCOPE_MISSING", { scope, scopes: settings.scopes.join(" ") });
}

/** Of a person; undefined where a key asks for what is of people alone. */
export function roleMissing(user: Pick<CallerUser, "role"> | undefined, scope: string): GatewayError {
  return new GatewayError("ERROR_REASON_ROLE_MISSING", { role: user?.role ?? "none", scope });
}
