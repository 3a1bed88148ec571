/** People, their sessions and the links that let them in, as the program knows them. */
import { toTimeMs } from "./columns.js";

/** What a user may do in an account, the most first. */
const MEMBER_ROLES = ["owner", "admin", "member", "viewer"] as const;
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
  /** True where signing in needs a second factor: a confirmed authenticator app, or a passkey. */
  readonly secondFactor: boolean;
}

export interface MembershipRow {
  readonly accountId: string;
  readonly accountName: string;
  readonly userId: string;
  readonly role: MemberRole;
  readonly createTimeMs: number;
  /** True where the account asks its people for a second factor. */
  readonly secondFactorRequired: boolean;
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
  /** How the person signed in: who comes by OpenID Connect shows a second factor there. */
  readonly method: "password" | "oidc";
  /** When the person last proved to be there. */
  readonly proofTimeMs: number;
}

/** What is known of somebody who signs in. */
export interface SignInFacts {
  readonly user: UserRow | undefined;
  /** True where the person signed in from the address before. */
  readonly isKnownAddress: boolean;
}

/** An authenticator app as a second factor; without a time of confirmation its person is not asked for it yet. */
export interface SecondFactorRow {
  readonly userId: string;
  readonly sealed: Uint8Array;
  /** The last step of 30 seconds whose code was taken: none up to it is taken again. */
  readonly lastStep: number;
  readonly createTimeMs: number;
  readonly confirmTimeMs: number | null;
}

/** A link that lets somebody in once. */
export interface LinkRow {
  readonly id: string;
  /** SHA-256 of the token. Unique. */
  readonly digest: Uint8Array;
  readonly kind: "first_operator" | "invitation" | "password";
  /** What an invitation makes of who accepts it. */
  readonly accountId: string | null;
  readonly role: MemberRole | null;
  readonly installationRole: InstallationRole | null;
  /** For whom it is meant, as a word to people; empty where nobody said. */
  readonly email: string | null;
  /** Whose password it sets. */
  readonly userId: string | null;
  /** The person who gave it, or the key. Both null: the gateway itself, or a program that kept no givers. */
  readonly giverUserId: string | null;
  readonly giverKeyId: string | null;
  readonly createTimeMs: number;
  readonly expireTimeMs: number;
}

export type InvitationRow = LinkRow;

export interface MemberRow {
  readonly user: UserRow;
  readonly role: MemberRole;
  readonly createTimeMs: number;
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

export interface UserColumns {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly password: string | null;
  readonly installation_role: UserRow["installationRole"];
  readonly create_time_ms: bigint;
  readonly sign_in_time_ms: bigint | null;
  readonly factors: bigint;
}

/** How many second factors a user has. */
export const FACTORS = `(SELECT COUNT(*) FROM second_factor
    WHERE second_factor.user_id = gateway_user.id AND confirm_time_ms IS NOT NULL)
  + (SELECT COUNT(*) FROM passkey WHERE passkey.user_id = gateway_user.id) AS factors`;
export const USERS = `SELECT gateway_user.*, ${FACTORS} FROM gateway_user`;

export interface SessionColumns {
  readonly id: string;
  readonly digest: Uint8Array;
  readonly user_id: string;
  readonly create_time_ms: bigint;
  readonly use_time_ms: bigint;
  readonly address: string;
  readonly user_agent: string;
  readonly method: SessionRow["method"];
  readonly proof_time_ms: bigint;
}

export interface LinkColumns {
  readonly id: string;
  readonly digest: Uint8Array;
  readonly kind: LinkRow["kind"];
  readonly account_id: string | null;
  readonly role: MemberRole | null;
  readonly installation_role: InstallationRole | null;
  readonly email: string | null;
  readonly user_id: string | null;
  readonly giver_user_id: string | null;
  readonly giver_key_id: string | null;
  readonly create_time_ms: bigint;
  readonly expire_time_ms: bigint;
}

/** Who has one IPv6 address has the 2^64 beside it. */
export function addressBlock(address: string): string {
  return address.includes(":") ? address.split(":").slice(0, 4).join(":") : address;
}

/** True where a session ended by its age, or because nobody used it. */
export function isOver({ createTimeMs, useTimeMs }: SessionRow, nowMs: number): boolean {
  return nowMs - createTimeMs >= SESSION_WHOLE_MS || nowMs - useTimeMs >= SESSION_IDLE_MS;
}

export function toUser(found: UserColumns | undefined): UserRow | undefined {
  if (found === undefined) return undefined;
  return {
    id: found.id,
    email: found.email,
    name: found.name,
    password: found.password,
    installationRole: found.installation_role,
    createTimeMs: Number(found.create_time_ms),
    signInTimeMs: toTimeMs(found.sign_in_time_ms),
    secondFactor: Number(found.factors) > 0,
  };
}

export function toSession(found: SessionColumns | undefined): SessionRow | undefined {
  if (found === undefined) return undefined;
  return {
    id: found.id,
    digest: found.digest,
    userId: found.user_id,
    createTimeMs: Number(found.create_time_ms),
    useTimeMs: Number(found.use_time_ms),
    address: found.address,
    userAgent: found.user_agent,
    method: found.method,
    proofTimeMs: Number(found.proof_time_ms),
  };
}

export function toLink(found: LinkColumns): LinkRow {
  return {
    id: found.id,
    digest: found.digest,
    kind: found.kind,
    accountId: found.account_id,
    role: found.role,
    installationRole: found.installation_role,
    email: found.email,
    userId: found.user_id,
    giverUserId: found.giver_user_id,
    giverKeyId: found.giver_key_id,
    createTimeMs: Number(found.create_time_ms),
    expireTimeMs: Number(found.expire_time_ms),
  };
}
