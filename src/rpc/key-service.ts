/** KeyService: the keys that clients carry. Nobody gives a key more than the caller's own has. */
import type { Key, KeyServiceService } from "../api/index.js";
import { type Caller, SCOPES } from "../keys/caller.js";
import { requireMayCreate, requireMayManage } from "../keys/grant.js";
import { newSettings } from "../keys/key-settings.js";
import { invalid, required } from "./check.js";
import type { CoreParts } from "./core.js";
import type { Handlers } from "./handler.js";
import { accountFilter, checkOwner } from "./ownership.js";
import { pageOf } from "./page.js";
import { scopeMissing } from "./permission.js";

export function keyService({ keys }: Pick<CoreParts, "keys">): Handlers<typeof KeyServiceService> {
  /** The key that a caller wants to change: its own account's, and no stronger than its own. */
  const changeable = async (id: string, caller: Caller): Promise<Key> => {
    const key = await keys.get(required("id", id));
    requireMayManage(caller, key);
    // The new secret of a stronger key would be a way to what the caller's own key may not do.
    checkScopes(caller, key.settings?.scopes ?? []);
    return key;
  };
  return {
    async createKey(request, { caller }) {
      const accountId = request.accountId || caller.accountId;
      // The scopes of a key that names none are looked at as well.
      const settings = newSettings(request.settings);
      const wish = { accountId, settings, secret: request.secret };
      requireMayCreate(caller, wish);
      checkScopes(caller, settings.scopes);
      const { key, secret } = await keys.create(wish);
      return { key, secret };
    },
    async getKey({ id }, { caller }) {
      const key = await keys.get(required("id", id));
      checkOwner(caller, key.accountId, "key", id);
      return { key };
    },
    async listKeys(request, { caller }) {
      const page = pageOf(request);
      return keys.list(accountFilter(caller, request.accountId), page);
    },
    async updateKey({ id, settings, updateMask }, { caller }) {
      await changeable(id, caller);
      if (updateMask.includes("scopes")) checkScopes(caller, settings?.scopes ?? []);
      return { key: await keys.update(id, settings, updateMask) };
    },
    async revokeKey({ id }, { caller }) {
      await changeable(id, caller);
      return { key: await keys.revoke(id) };
    },
    async rotateKey({ id, graceSeconds }, { caller }) {
      await changeable(id, caller);
      const { key, secret } = await keys.rotate(id, graceSeconds);
      return { key, secret };
    },
    async getCaller({ scope }, { caller }) {
      if (scope !== "" && !caller.hasScope(scope)) throw scopeMissing(scope, caller);
      return { key: caller.key };
    },
  };
}

/** Refuses scopes that do not exist, and those that the caller's own key lacks. */
function checkScopes(caller: Caller, scopes: readonly string[]): void {
  const known: readonly string[] = SCOPES;
  for (const scope of scopes) {
    if (!known.includes(scope)) throw invalid("settings.scopes", `must be among ${SCOPES.join(", ")}`);
    if (!caller.hasScope(scope)) throw scopeMissing(scope, caller);
  }
}
