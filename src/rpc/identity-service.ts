/** IdentityService: people, and how they sign in. */
import {
  type IdentityServiceService,
  InstallationRole,
  MemberRole,
  type Membership,
  type Session,
  type User,
} from "../api/index.js";
import { SET_SESSION_HEADER, USER_AGENT_HEADER } from "../api/session-headers.js";
import { GatewayError } from "../errors.js";
import type { Device, SignedIn } from "../identity/identity.js";
import type { UserCaller } from "../identity/user-caller.js";
import type { Caller } from "../keys/caller.js";
import type { Role } from "../keys/roles.js";
import {
  type MembershipRow,
  SESSION_IDLE_MS,
  SESSION_WHOLE_MS,
  type SessionRow,
  type UserRow,
} from "../store/people-rows.js";
import { required } from "./check.js";
import type { CoreParts } from "./core.js";
import type { Handlers, ServiceCall } from "./handler.js";

export function identityService({ identity }: Pick<CoreParts, "identity">): Handlers<typeof IdentityServiceService> {
  return {
    async getSignIn() {
      return { firstOperatorMissing: !(await identity.operatorExists()), password: true };
    },
    async createFirstOperator({ token, email, name, password, userAgent }, call) {
      required("token", token);
      required("email", email);
      required("password", password);
      return answered(
        await identity.makeFirstOperator(token, { email, name, password }, deviceOf(call, userAgent)),
        call,
      );
    },
    async signIn({ email, password, userAgent }, call) {
      required("email", email);
      required("password", password);
      return answered(await identity.signIn(email, password, deviceOf(call, userAgent)), call);
    },
    async signOut(_request, { caller, head }) {
      await identity.signOut(userOf(caller));
      head({ [SET_SESSION_HEADER]: "" });
      return {};
    },
    async getSession(_request, { caller }) {
      const { open, accountId, user } = userOf(caller);
      return {
        user: shownUser(open.user),
        session: shownSession(open.session, user.sessionId),
        memberships: open.memberships.map(shownMembership),
        accountId,
        role: ROLES[user.role],
      };
    },
  };
}

/** The edge between callers and people: only a session makes a caller with a user. */
function userOf(caller: Caller): UserCaller {
  if (caller.user === undefined || !("open" in caller)) throw new GatewayError("ERROR_REASON_USER_MISSING");
  return caller as UserCaller;
}

function deviceOf({ address, metadata }: ServiceCall, userAgent: string): Device {
  return { address, userAgent: metadata[USER_AGENT_HEADER] ?? userAgent };
}

/** The front end makes a cookie of the token, which is not in the answer: no script of a page reads it. */
function answered({ user, session, token }: SignedIn, { head }: ServiceCall): { user: User; session: Session } {
  head({ [SET_SESSION_HEADER]: token });
  return { user: shownUser(user), session: shownSession(session, session.id) };
}

const ROLES: Readonly<Record<Role, MemberRole>> = {
  operator: MemberRole.MEMBER_ROLE_OWNER,
  auditor: MemberRole.MEMBER_ROLE_VIEWER,
  owner: MemberRole.MEMBER_ROLE_OWNER,
  admin: MemberRole.MEMBER_ROLE_ADMIN,
  member: MemberRole.MEMBER_ROLE_MEMBER,
  viewer: MemberRole.MEMBER_ROLE_VIEWER,
  none: MemberRole.MEMBER_ROLE_UNSPECIFIED,
};
const INSTALLATION_ROLES = {
  operator: InstallationRole.INSTALLATION_ROLE_OPERATOR,
  auditor: InstallationRole.INSTALLATION_ROLE_AUDITOR,
} as const;

function shownUser({ id, email, name, installationRole, createTimeMs, signInTimeMs }: UserRow): User {
  return {
    id,
    email,
    name,
    installationRole:
      installationRole === null ? InstallationRole.INSTALLATION_ROLE_UNSPECIFIED : INSTALLATION_ROLES[installationRole],
    createTime: new Date(createTimeMs),
    signInTime: signInTimeMs === null ? undefined : new Date(signInTimeMs),
  };
}

function shownMembership({ accountId, accountName, role, createTimeMs }: MembershipRow): Membership {
  return { accountId, accountName, role: ROLES[role], createTime: new Date(createTimeMs) };
}

function shownSession(row: SessionRow, currentId: string): Session {
  const { id, createTimeMs, useTimeMs, address, userAgent } = row;
  const expireTime = new Date(Math.min(createTimeMs + SESSION_WHOLE_MS, useTimeMs + SESSION_IDLE_MS));
  const times = { createTime: new Date(createTimeMs), useTime: new Date(useTimeMs), expireTime };
  return { id, ...times, address, userAgent, current: id === currentId };
}
