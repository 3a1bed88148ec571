/** People, their sessions and the links that let them in, as the program knows them. */

/** What a user may do in an account, the most first. */
export const MEMBER_ROLES = ["owner", "admin", "member", "viewer"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];
/** What a user is to the whole installation. */
export type InstallationRole = "operator" | "auditor";

export interface UserRow {
  readonly id: string;
  /** In lower case. Unique. */
  readonly email: string;
  readonly name: string;
  /** An argon2id hash with its parameters; null where the user has no password. */
  readonly password: string | null;
  readonly installationRole: InstallationRole | null;
  readonly createTimeMs: number;
  readonly signInTimeMs: number | null;
}

export interface MembershipRow {
  readonly accountId: string;
  readonly accountName: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly createTimeMs: number;
}

export interface SessionRow {
  readonly id: string;
  /** SHA-256 of the token. Unique. */
  readonly digest: Uint8Array;
  readonly userId: string;
  readonly createTimeMs: number;
  readonly useTimeMs: number;
  readonly address: string;
  readonly userAgent: string;
}

/** A link that lets somebody in once. */
export interface LinkRow {
  readonly id: string;
  /** SHA-256 of the token. Unique. */
  readonly digest: Uint8Array;
  readonly kind: "first_operator";
  readonly createTimeMs: number;
  readonly expireTimeMs: number;
}

/** A session with whose it is. */
export interface OpenSession {
  readonly session: SessionRow;
  readonly user: UserRow;
  /** By account. */
  readonly memberships: readonly MembershipRow[];
}

/** How long a session lives: unused, and at all. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
export const SESSION_WHOLE_MS = 7 * 24 * 3_600_000;
