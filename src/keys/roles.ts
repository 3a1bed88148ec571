/** What people may do: the one table of roles and scopes. A key has its scopes one by one. */
import type { Scope } from "./caller.js";

/** What a method asks for; `members` is of people alone. */
export type PermissionScope = Scope | "members";

/** A person's place in an account, or in the whole installation. */
export type Role = "owner" | "admin" | "member" | "viewer" | "operator" | "auditor" | "none";

/** The scopes of which a role sees everything, and those of which it changes something. */
interface Grant {
  readonly sees: readonly PermissionScope[];
  readonly changes: readonly PermissionScope[];
}

const SEEN_BY_ALL = ["models", "usage", "keys"] as const;
const SEEN_BY_ADMINS = [...SEEN_BY_ALL, "members", "audit"] as const;
const CHANGED_BY_ADMINS = ["chat", "embeddings", "keys", "members", "usage", "alerts"] as const;
const EVERYTHING = ["chat", "embeddings", "models", "usage", "keys", "members", "audit", "alerts", "operator"] as const;

const ROLES: Readonly<Record<Role, Grant>> = {
  none: { sees: [], changes: [] },
  viewer: { sees: SEEN_BY_ALL, changes: [] },
  member: { sees: [...SEEN_BY_ALL, "members"], changes: ["chat", "embeddings", "keys"] },
  admin: { sees: SEEN_BY_ADMINS, changes: CHANGED_BY_ADMINS },
  owner: { sees: SEEN_BY_ADMINS, changes: CHANGED_BY_ADMINS },
  auditor: { sees: EVERYTHING, changes: [] },
  operator: { sees: EVERYTHING, changes: EVERYTHING },
};

/** True where the role may see what is of the scope, or change it too. Nobody may what is of no known scope. */
export function roleMay(role: Role, scope: string, reads: boolean): boolean {
  const { sees, changes } = ROLES[role];
  const granted: readonly string[] = reads ? [...sees, ...changes] : changes;
  return granted.includes(scope);
}
