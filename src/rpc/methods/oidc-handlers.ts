/** The methods of IdentityService by which people sign in at OpenID Connect issuers. */
import type { IdentityServiceService, OidcIssuer } from "../../api/index.js";
import { required } from "../../api/check.js";
import { ORIGIN_HEADER, PENDING_HEADER, SET_SESSION_HEADER } from "../../api/session-headers.js";
import type { OidcSignIn } from "../../identity/oidc/sign-in.js";
import type { Handlers } from "../call/handler.js";
import { shownSession, shownUser } from "./people-messages.js";
import { deviceOf } from "./device.js";

type OidcMethods = Pick<Handlers<typeof IdentityServiceService>, "beginOidcSignIn" | "finishOidcSignIn">;

export function oidcHandlers(oidc: OidcSignIn): OidcMethods {
  return {
    async beginOidcSignIn({ name, fresh, invitation }, { metadata, address, head }) {
      const origin = metadata[ORIGIN_HEADER] ?? "";
      const begun = await oidc.begin({ name: required("name", name), fresh, invitation, origin }, address);
      head({ [PENDING_HEADER]: begun.sealed });
      return { authorizationUri: begun.authorizationUri };
    },
    async finishOidcSignIn({ name, query, password, code, passkey, userAgent }, call) {
      const sealed = call.metadata[PENDING_HEADER] ?? "";
      const asked = { name: required("name", name), query: required("query", query) };
      const params = { ...asked, sealed, password, code, passkey };
      const done = await oidc.finish(params, deviceOf(call, userAgent), call.act);
      const { email } = done;
      if (done.kind === "needed") {
        call.head({ [PENDING_HEADER]: done.sealed });
        const needed = { passwordNeeded: done.password, codeNeeded: done.code };
        return { user: undefined, session: undefined, ...needed, email, passkeyOptions: done.passkeyOptions };
      }
      call.head({ [SET_SESSION_HEADER]: done.token, [PENDING_HEADER]: "" });
      const { user, session } = done;
      const shown = { user: shownUser(user), session: shownSession(session, session.id) };
      return { ...shown, passwordNeeded: false, codeNeeded: false, email, passkeyOptions: "" };
    },
  };
}

export function shownIssuers({ issuers }: OidcSignIn): OidcIssuer[] {
  return issuers.map(({ name, title }) => ({ name, title }));
}
