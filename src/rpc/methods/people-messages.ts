/** People as the protocol shows them, and what it asks of them. */
import {
  InstallationRole,
  type Invitation,
  type Member,
  MemberRole,
  type Membership,
  type Session,
  type User,
} from "../../api/index.js";
import type { Role } from "../../keys/roles.js";
import {
  type LinkRow,
  type MemberRole as StoredRole,
  type MemberRow,
  type MembershipRow,
  SESSION_IDLE_MS,
  SESSION_WHOLE_MS,
  type SessionRow,
  type UserRow,
} from "../../store/people-rows.js";
import { invalid } from "../../api/check.js";

export const ROLES: Readonly<Record<Role, MemberRole>> = {
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

export function shownUser(row: UserRow): User {
  const { id, email, name, installationRole, createTimeMs, signInTimeMs, secondFactor } = row;
  return {
    id,
    email,
    name,
    installationRole:
      installationRole === null ? InstallationRole.INSTALLATION_ROLE_UNSPECIFIED : INSTALLATION_ROLES[installationRole],
    createTime: new Date(createTimeMs),
    signInTime: signInTimeMs === null ? undefined : new Date(signInTimeMs),
    secondFactor,
  };
}

export function shownMembership({ accountId, accountName, role, createTimeMs }: MembershipRow): Membership {
  return { accountId, accountName, role: ROLES[role], createTime: new Date(createTimeMs) };
}

export function shownSession(row: SessionRow, currentId: string): Session {
  const { id, createTimeMs, useTimeMs, address, userAgent } = row;
  const expireTime = new Date(Math.min(createTimeMs + SESSION_WHOLE_MS, useTimeMs + SESSION_IDLE_MS));
  const times = { createTime: new Date(createTimeMs), useTime: new Date(useTimeMs), expireTime };
  return { id, ...times, address, userAgent, current: id === currentId };
}

export function shownMember({ user, role, createTimeMs }: MemberRow): Member {
  return { user: shownUser(user), role: ROLES[role], createTime: new Date(createTimeMs) };
}

export function shownInvitation(link: LinkRow): Invitation {
  const { id, accountId, role, installationRole, email, createTimeMs, expireTimeMs } = link;
  return {
    id,
    accountId: accountId ?? "",
    role: ROLES[role ?? "none"],
    installationRole: shownInstallationRole(installationRole),
    email: email ?? "",
    createTime: new Date(createTimeMs),
    expireTime: new Date(expireTimeMs),
  };
}

function shownInstallationRole(role: UserRow["installationRole"]): InstallationRole {
  return role === null ? InstallationRole.INSTALLATION_ROLE_UNSPECIFIED : INSTALLATION_ROLES[role];
}

const ASKED: readonly StoredRole[] = ["owner", "admin", "member", "viewer"];

/** Throws PARAMETER_INVALID where it is none. */
export function askedRole(role: MemberRole): StoredRole {
  const found = ASKED.find((one) => ROLES[one] === role);
  if (found === undefined) throw invalid("role", `must be one of ${ASKED.join(", ")}`);
  return found;
}

/** Null for none. Throws PARAMETER_INVALID where it is no role that we know. */
export function askedInstallationRole(role: InstallationRole): UserRow["installationRole"] {
  switch (role) {
    case InstallationRole.INSTALLATION_ROLE_UNSPECIFIED:
      return null;
    case InstallationRole.INSTALLATION_ROLE_OPERATOR:
      return "operator";
    case InstallationRole.INSTALLATION_ROLE_AUDITOR:
      return "auditor";
    default:
      throw invalid("installation_role", "must be operator or auditor");
  }
}
