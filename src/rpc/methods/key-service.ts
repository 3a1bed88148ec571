/** KeyService: the keys that clients carry. Nobody gives a key more than the caller's own has. */
import type { Key, KeyServiceService, KeySettings, ListKeysRequest } from "../../api/index.js";
import {
  grantedParams,
  maySee,
  requireMayChange,
  requireMayEnd,
  requireMayRotate,
  requireMaySee,
} from "../../keys/grant.js";
import { invalid, required, unknown } from "../../api/check.js";
import { hiddenKey, planOf } from "../call/callers.js";
import { GatewayError } from "../../base/errors.js";
import { importedSecretOf } from "../../keys/imported-secret.js";
import { withKeyDefaults } from "../../plans/plan.js";
import type { CoreParts } from "../call/core.js";
import { keysAsked, withKeyFigures, withKeyQuotas } from "./figures.js";
import type { Handlers } from "../call/handler.js";
import { accountFilter } from "../call/account-scope.js";
import { pageOf } from "./page.js";
import { PENDING } from "./pending.js";

/** Each is looked up by itself. */
const IDS_MAX = 200;

type Parts = Pick<
  CoreParts,
  "identity" | "keys" | "ledger" | "plans" | "store" | "nowMs" | "limits" | "quotas" | "keyUses"
>;

export function keyService(parts: Parts): Handlers<typeof KeyServiceService> {
  const { keys } = parts;
  return {
    async createKey(request, { caller, act }) {
      const accountId = request.accountId || caller.accountId;
      const { settings: asked, secret: given, secretDigest } = request;
      if (secretDigest !== "" && given !== "") throw invalid("secret_digest", "is not given beside `secret`");
      const imported = secretDigest === "" ? undefined : importedSecretOf(secretDigest, request.hint);
      const params = grantedParams(caller, { accountId, settings: asked, secret: given, imported });
      const { user } = caller;
      // Under it stands all that the person may spend in the account.
      const makerId =
        user === undefined || user.role === "operator" ? params.makerId : await hiddenKey(parts, accountId, user);
      const plan = await planOf(parts, accountId);
      const granted = params.settings;
      const settings =
        plan === undefined || granted === undefined ? granted : withKeyDefaults(plan, granted, parts.nowMs());
      const { key, secret } = await keys.create({ ...params, settings, makerId }, act);
      return { key, secret };
    },
    async getKey({ id }, { caller }) {
      const key = await keys.get(required("id", id));
      requireMaySee(caller, key);
      const [shown] = await withKeyFigures(parts, [key]);
      return { key: shown && (await withKeyQuotas(parts, shown)) };
    },
    async listKeys(request, { caller }) {
      const account = accountFilter(caller, request.accountId);
      const page =
        request.ids.length > 0
          ? await namedKeys(parts, request, account)
          : await keys.list(keysAsked(request, account), pageOf(request));
      const seen = page.keys.filter((key) => maySee(caller, key));
      return { keys: await withKeyFigures(parts, seen), nextPageToken: page.nextPageToken };
    },
    async updateKey({ id, settings, updateMask = [], etag }, { caller, act, head }) {
      const makerIds = await keys.makersOf(required("id", id));
      const permit = (key: Key, changed: KeySettings): void => requireMayChange(caller, { key, makerIds }, changed);
      const key = await keys.update(id, settings, updateMask, { act, permit, etag });
      if (keys.isPending(id)) head(PENDING);
      return { key };
    },
    async revokeKey({ id }, { caller, act, head }) {
      const makerIds = await keys.makersOf(required("id", id));
      requireMayEnd(caller, { key: await keys.get(id), makerIds });
      const key = await keys.revoke(id, act);
      if (keys.isPending(id)) head(PENDING);
      return { key };
    },
    async rotateKey({ id, graceSeconds }, { caller, act, head }) {
      const makerIds = await keys.makersOf(required("id", id));
      const permit = (key: Key): void => requireMayRotate(caller, { key, makerIds });
      const { key, secret } = await keys.rotate(id, graceSeconds, act, permit);
      if (keys.isPending(id)) head(PENDING);
      return { key, secret };
    },
    async getCaller(_request, { caller }) {
      // A person has no key; GetSession shows who that is.
      if (caller.user !== undefined) throw unknown("key", caller.keyId);
      const [shown] = await withKeyFigures(parts, [caller.key]);
      return { key: shown };
    },
  };
}

/** Those of the ids that are keys of the account, or of any where it is undefined, as one page. */
async function namedKeys(
  { keys }: Pick<Parts, "keys">,
  { ids, text, revoked }: ListKeysRequest,
  account: string | undefined,
): Promise<{ readonly keys: readonly Key[]; readonly nextPageToken: string }> {
  if (ids.length > IDS_MAX) throw invalid("ids", `must be at most ${IDS_MAX}`);
  if (text !== "" || revoked !== undefined) throw invalid("ids", "are given without another filter");
  const found = await Promise.all(ids.map((id) => keys.get(id).catch(noneWhereUnknown)));
  const isAsked = (key: Key | undefined): key is Key =>
    key !== undefined && (account === undefined || key.accountId === account);
  return { keys: found.filter(isAsked), nextPageToken: "" };
}

function noneWhereUnknown(error: unknown): undefined {
  if (GatewayError.from(error).reason !== "ERROR_REASON_RESOURCE_UNKNOWN") throw error;
}
