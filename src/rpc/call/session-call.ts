/** A call that came with a person's session: what it may do holds for as long as it runs. */
import { GatewayError } from "../../base/errors.js";
import type { Caller } from "../../keys/caller.js";
import { type HiddenKeyParts, type SessionCaller, sessionCaller, type ToldSession } from "./callers.js";
import type { Lifetime } from "./lifetime.js";
import { scopeOf } from "./permission.js";
import type { OpenRoute } from "./route.js";

/**
 * Whoever calls. Whatever changes of the person from now on finds the call among those that run, and asks it to check
 * itself. Rejects as `sessionCaller` does.
 */
export async function enterSession(
  core: HiddenKeyParts,
  told: ToldSession,
  { path, permission }: Pick<OpenRoute, "path" | "permission">,
  lifetime: Lifetime,
): Promise<Caller> {
  let begun: SessionCaller | undefined;
  const check = async (): Promise<void> => {
    const { user } = await sessionCaller(core, { ...told, accountId: begun?.caller.accountId ?? told.accountId }, path);
    // What it shows was chosen by the role.
    if (begun !== undefined && user.role !== begun.user.role)
      throw new GatewayError("ERROR_REASON_ROLE_MISSING", { role: user.role, scope: scopeOf(permission) });
  };
  lifetime.session = { userId: undefined, check };
  begun = await sessionCaller(core, told, path);
  lifetime.session = { userId: begun.user.id, check };
  return begun.caller;
}
