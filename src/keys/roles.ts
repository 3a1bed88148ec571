/** What people may do: the one table of roles and scopes. A key has its scopes one by one. */
import { type Scope, SCOPES } from "./caller.js";

/** What a method asks for; `members` is of people alone. */
export type PermissionScope = Scope | "members";

/** A person's place in an account, or in the whole installation. */
export type Role = "owner" | "admin" | "member" | "viewer" | "operator" | "auditor" | "none";

/** The scopes of which a role sees all, those of which it changes something, and those that its keys may have. */
interface Grant {
  readonly sees: readonly PermissionScope[];
  readonly changes: readonly PermissionScope[];
  readonly keys: readonly Scope[];
}

/** What asks models for something. */
const ASKING = ["chat", "embeddings", "rerank", "moderations", "audio"] as const;
const SEEN_BY_ALL = ["models", "usage", "keys"] as const;
const SEEN_BY_ADMINS = [...SEEN_BY_ALL, "members", "audit"] as const;
const CHANGED_BY_ADMINS = [...ASKING, "keys", "members", "usage", "alerts"] as const;
/** A key that makes keys is as good as its keeper's word: members make none. */
const KEYS_OF_MEMBERS = [...ASKING, "models", "usage"] as const;
const KEYS_OF_ADMINS = [...KEYS_OF_MEMBERS, "keys"] as const;
const EVERYTHING = [...ASKING, "models", "usage", "keys", "members", "audit", "alerts", "operator"] as const;

const ROLES: Readonly<Record<Role, Grant>> = {
  none: { sees: [], changes: [], keys: [] },
  viewer: { sees: SEEN_BY_ALL, changes: [], keys: ["models", "usage"] },
  member: { sees: [...SEEN_BY_ALL, "members"], changes: [...ASKING, "keys"], keys: KEYS_OF_MEMBERS },
  admin: { sees: SEEN_BY_ADMINS, changes: CHANGED_BY_ADMINS, keys: KEYS_OF_ADMINS },
  owner: { sees: SEEN_BY_ADMINS, changes: CHANGED_BY_ADMINS, keys: KEYS_OF_ADMINS },
  auditor: { sees: EVERYTHING, changes: [], keys: ["models", "usage"] },
  operator: { sees: EVERYTHING, changes: EVERYTHING, keys: SCOPES },
};

/** True where the role may see what is of the scope, or change it too. Nobody may what is of no known scope. */
export function roleMay(role: Role, scope: string, reads: boolean): boolean {
  const { sees, changes } = ROLES[role];
  const granted: readonly string[] = reads ? [...sees, ...changes] : changes;
  return granted.includes(scope);
}

/** Those of the scopes that a key has as long as the person who made it is in the role. */
export function scopesWithin(role: Role, scopes: readonly string[]): string[] {
  const most: readonly string[] = ROLES[role].keys;
  return scopes.filter((scope) => most.includes(scope));
}
