/** The roles that people are given, and what they are called. */
import { memberWords } from "../copy/en-members.ts";

export const MEMBER_ROLES = ["owner", "admin", "member", "viewer"] as const;
export const INSTALLATION_ROLES = ["unspecified", "operator", "auditor"] as const;
export const roleNames = memberWords.roles;
export const installationRoleNames = memberWords.people.roles;
