/** The methods of IdentityService about passkeys. */
import type { IdentityServiceService, Passkey } from "../../api/index.js";
import { required } from "../../api/check.js";
import type { Identity } from "../../identity/identity.js";
import type { PasskeyRow } from "../../store/passkey-scripts.js";
import type { Handlers } from "../call/handler.js";
import { userOf } from "./factor-handlers.js";
import { pageById } from "./page.js";

type PasskeyMethods = Pick<
  Handlers<typeof IdentityServiceService>,
  | "beginPasskeySignIn"
  | "beginPasskeyProof"
  | "beginPasskey"
  | "createPasskey"
  | "listPasskeys"
  | "updatePasskey"
  | "deletePasskey"
>;

export function passkeyHandlers(identity: Identity): PasskeyMethods {
  const { passkeys } = identity.secondFactors;
  return {
    async beginPasskeySignIn({ email, password }, { address }) {
      required("email", email);
      required("password", password);
      return { options: await identity.beginPasskeySignIn(email, password, address) };
    },
    async beginPasskeyProof(_request, { caller }) {
      return { options: await identity.beginPasskeyProof(userOf(caller).open) };
    },
    async beginPasskey(_request, { caller }) {
      const { user, session } = userOf(caller).open;
      return { options: await passkeys.begin(user, session.id) };
    },
    async createPasskey({ name, credential }, { caller, act }) {
      required("name", name);
      required("credential", credential);
      const { user, session } = userOf(caller).open;
      const { passkey, recoveryCodes } = await passkeys.add(user, session.id, name, credential, act);
      return { passkey: shownPasskey(passkey), recoveryCodes: [...recoveryCodes] };
    },
    async listPasskeys(request, { caller }) {
      const { rows, nextPageToken } = pageById(await passkeys.list(userOf(caller).user), request, "p");
      return { passkeys: rows.map(shownPasskey), nextPageToken };
    },
    async updatePasskey({ id, name }, { caller, act }) {
      required("id", id);
      required("name", name);
      return { passkey: shownPasskey(await passkeys.rename(userOf(caller).open.user, id, name, act)) };
    },
    async deletePasskey({ id }, { caller, act }) {
      await passkeys.drop(userOf(caller).open.user, required("id", id), act);
      return {};
    },
  };
}

function shownPasskey({ id, name, createTimeMs, useTimeMs, rpId }: PasskeyRow): Passkey {
  const useTime = useTimeMs === null ? undefined : new Date(useTimeMs);
  return { id, name, createTime: new Date(createTimeMs), useTime, host: rpId };
}
