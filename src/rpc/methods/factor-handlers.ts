/** The methods of IdentityService about second factors, and about proving again who one is. */
import type { IdentityServiceService } from "../../api/index.js";
import { required } from "../../api/check.js";
import { GatewayError } from "../../base/errors.js";
import type { Identity } from "../../identity/identity.js";
import type { UserCaller } from "../../identity/user-caller.js";
import type { Caller } from "../../keys/caller.js";
import type { Handlers } from "../call/handler.js";
import { checkOwner } from "../call/account-scope.js";

type FactorMethods = Pick<
  Handlers<typeof IdentityServiceService>,
  | "proveSession"
  | "createSecondFactor"
  | "confirmSecondFactor"
  | "createRecoveryCodes"
  | "deleteSecondFactor"
  | "getAccountSecurity"
  | "updateAccountSecurity"
>;

export function factorHandlers(identity: Identity): FactorMethods {
  const { secondFactors, members } = identity;
  return {
    async proveSession({ password, code, passkey }, { caller, act }) {
      required("password", password);
      const untilMs = await identity.prove(userOf(caller).open, password, { code, passkey }, act);
      return { proofExpireTime: new Date(untilMs) };
    },
    async createSecondFactor(_request, { caller, act }) {
      return secondFactors.enrol(userOf(caller).open.user, act);
    },
    async confirmSecondFactor({ code }, { caller, act }) {
      required("code", code);
      const { user, session } = userOf(caller).open;
      return { recoveryCodes: [...(await secondFactors.confirm(user, session.id, code, act))] };
    },
    async createRecoveryCodes(_request, { caller, act }) {
      return { recoveryCodes: [...(await secondFactors.newRecoveryCodes(userOf(caller).open.user, act))] };
    },
    async deleteSecondFactor(_request, { caller, act }) {
      await secondFactors.drop(userOf(caller).open.user, act);
      return {};
    },
    async getAccountSecurity({ accountId }, { caller }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      return { security: { requiresSecondFactor: await members.secondFactorRequired(accountId) } };
    },
    async updateAccountSecurity({ accountId, requiresSecondFactor }, { caller, act }) {
      checkOwner(caller, required("account_id", accountId), "account", accountId);
      await members.requireSecondFactor(accountId, requiresSecondFactor, act);
      return { security: { requiresSecondFactor } };
    },
  };
}

/** The edge between callers and people: only a session makes a caller with a user. */
export function userOf(caller: Caller): UserCaller {
  if (caller.user === undefined || !("open" in caller)) throw new GatewayError("ERROR_REASON_USER_MISSING");
  return caller as UserCaller;
}
