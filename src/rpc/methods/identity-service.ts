/** IdentityService: people, and how they sign in. */
import type { IdentityServiceService, Session, User } from "../../api/index.js";
import { SET_SESSION_HEADER } from "../../api/session-headers.js";
import type { SignedIn } from "../../identity/new-session.js";
import { PROOF_MS } from "../../identity/user-caller.js";
import { factorHandlers, userOf } from "./factor-handlers.js";
import { limitHandlers } from "./limit-handlers.js";
import { memberHandlers } from "./member-handlers.js";
import { required } from "../../api/check.js";
import type { HiddenKeyParts } from "../call/callers.js";
import type { CoreParts } from "../call/core.js";
import { deviceOf } from "./device.js";
import type { Handlers, ServiceCall } from "../call/handler.js";
import { oidcHandlers, shownIssuers } from "./oidc-handlers.js";
import { pageById } from "./page.js";
import { passkeyHandlers } from "./passkey-handlers.js";
import { ROLES, shownMembership, shownSession, shownUser } from "./people-messages.js";

export function identityService(parts: HiddenKeyParts): Handlers<typeof IdentityServiceService> {
  const { identity } = parts;
  return {
    ...memberHandlers(identity.members, parts.keys),
    ...sessionHandlers(identity),
    ...factorHandlers(identity),
    ...passkeyHandlers(identity),
    ...limitHandlers(parts),
    ...oidcHandlers(identity.oidc),
    async getSignIn() {
      const firstOperatorMissing = !(await identity.operatorExists());
      return { firstOperatorMissing, password: true, issuers: shownIssuers(identity.oidc) };
    },
    async createFirstOperator({ token, email, name, password, userAgent }, call) {
      required("token", token);
      required("email", email);
      required("password", password);
      const params = { email, name, password };
      return answered(await identity.makeFirstOperator(token, params, deviceOf(call, userAgent), call.act), call);
    },
    async signIn({ email, password, code, passkey, userAgent }, call) {
      required("email", email);
      required("password", password);
      const shown = { email, password, code, passkey };
      return answered(await identity.signIn(shown, deviceOf(call, userAgent), call.act), call);
    },
    async acceptInvitation({ token, email, name, password, code, passkey, userAgent }, call) {
      required("token", token);
      required("email", email);
      required("password", password);
      const params = { email, name, password, code, passkey };
      return answered(await identity.acceptInvitation(token, params, deviceOf(call, userAgent), call.act), call);
    },
    async setPassword({ token, password }, { address, act }) {
      required("token", token);
      required("password", password);
      await identity.setPassword(token, password, address, act);
      return {};
    },
    async changePassword({ password, newPassword }, { caller, act, head }) {
      required("password", password);
      required("new_password", newPassword);
      await identity.changePassword(userOf(caller).open, password, newPassword, act);
      head(ENDED);
      return {};
    },
    async signOut(_request, { caller, act, head }) {
      await identity.signOut(userOf(caller), act);
      head(ENDED);
      return {};
    },
  };
}

function sessionHandlers(
  identity: CoreParts["identity"],
): Pick<
  Handlers<typeof IdentityServiceService>,
  "getSession" | "changeName" | "endSession" | "endSessions" | "listSessions"
> {
  return {
    async getSession(_request, { caller }) {
      const { open, accountId, user } = userOf(caller);
      const { hasApp, recoveryCodesLeft } = await identity.secondFactors.state(open.user);
      return {
        user: shownUser(open.user),
        session: shownSession(open.session, user.sessionId),
        memberships: open.memberships.map(shownMembership),
        accountId,
        role: ROLES[user.role],
        lacksSecondFactor: user.lacksSecondFactor,
        recoveryCodesLeft,
        proofExpireTime: new Date(open.session.proofTimeMs + PROOF_MS),
        hasPassword: open.user.password !== null,
        hasAuthenticatorApp: hasApp,
        passkeyOrigin: identity.secondFactors.passkeys.origin,
      };
    },
    async changeName({ name }, { caller, act }) {
      return { user: shownUser(await identity.changeName(userOf(caller).open, name, act)) };
    },
    async endSession({ id }, { caller, act, head }) {
      const { user } = userOf(caller);
      await identity.endSession(user.id, required("id", id), act);
      if (id === user.sessionId) head(ENDED);
      return {};
    },
    async endSessions(_request, { caller, act, head }) {
      await identity.endSessions(userOf(caller).user.id, act);
      head(ENDED);
      return {};
    },
    async listSessions(request, { caller }) {
      const { user } = userOf(caller);
      const { rows, nextPageToken } = pageById(await identity.sessions(user.id), request, "s");
      return { sessions: rows.map((row) => shownSession(row, user.sessionId)), nextPageToken };
    },
  };
}

/** The session that asks is over. */
const ENDED = { [SET_SESSION_HEADER]: "" };

/** The front end makes a cookie of the token, which is not in the answer: no script of a page reads it. */
function answered({ user, session, token }: SignedIn, { head }: ServiceCall): { user: User; session: Session } {
  head({ [SET_SESSION_HEADER]: token });
  return { user: shownUser(user), session: shownSession(session, session.id) };
}
