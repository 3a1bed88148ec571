/** What is asked of the tables of people, each in one transaction. */
import { toTimeMs } from "./columns.js";
import type { LinkRow, MembershipRow, OpenSession, UserRow, SessionRow } from "./people-rows.js";
import { SESSION_IDLE_MS, SESSION_WHOLE_MS } from "./people-rows.js";
import { lock, row, rows, type Script } from "./script.js";

interface UserColumns {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly password: string | null;
  readonly installation_role: UserRow["installationRole"];
  readonly create_time_ms: bigint;
  readonly sign_in_time_ms: bigint | null;
}

interface SessionColumns {
  readonly id: string;
  readonly digest: Uint8Array;
  readonly user_id: string;
  readonly create_time_ms: bigint;
  readonly use_time_ms: bigint;
  readonly address: string;
  readonly user_agent: string;
}

interface MembershipColumns {
  readonly account_id: string;
  readonly name: string;
  readonly user_id: string;
  readonly role: MembershipRow["role"];
  readonly create_time_ms: bigint;
}

/** A user has at most so many sessions; the oldest one makes room. */
const SESSIONS_MAX = 50;
const OPERATORS = "operators";
const OPERATOR = "SELECT id FROM gateway_user WHERE installation_role = 'operator' LIMIT 1";
const USER_BY_EMAIL = "SELECT * FROM gateway_user WHERE email = ?";
const USER = "SELECT * FROM gateway_user WHERE id = ?";
const MEMBERSHIPS = `SELECT membership.*, account.name FROM membership
  JOIN account ON account.id = membership.account_id
  WHERE membership.user_id = ? ORDER BY membership.account_id`;
const SESSION = "SELECT * FROM session WHERE digest = ?";
const INSERT_SESSION = `INSERT INTO session (id, digest, user_id, create_time_ms, use_time_ms, address, user_agent)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const END_OLDEST = `DELETE FROM session WHERE user_id = ? AND id NOT IN
  (SELECT id FROM session WHERE user_id = ? ORDER BY create_time_ms DESC, id DESC LIMIT ${SESSIONS_MAX})`;
const END_OLD = "DELETE FROM session WHERE user_id = ? AND (create_time_ms <= ? OR use_time_ms <= ?)";
const INSERT_USER = `INSERT INTO gateway_user
  (id, email, name, password, installation_role, create_time_ms, sign_in_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`;
const INSERT_LINK = "INSERT INTO link (id, digest, kind, create_time_ms, expire_time_ms) VALUES (?, ?, ?, ?, ?)";
const END_LINKS = "DELETE FROM link WHERE expire_time_ms <= ?";
const LINK = "SELECT * FROM link WHERE digest = ? AND kind = ? AND expire_time_ms > ?";
const USE_LINK = "DELETE FROM link WHERE digest = ? AND kind = ? AND expire_time_ms > ?";

/** How a link was used. */
export type LinkUse = "used" | "invalid" | "email_taken";

export const PEOPLE_SCRIPTS = {
  *operatorExists(): Script<boolean> {
    return (yield* row(OPERATOR)) !== undefined;
  },

  /** Also forgets links that are over. */
  *makeLink(link: LinkRow): Script<void> {
    yield* rows(END_LINKS, link.createTimeMs);
    yield* rows(INSERT_LINK, link.id, link.digest, link.kind, link.createTimeMs, link.expireTimeMs);
  },

  /** Makes the first operator with a session, where the link holds and there is no operator yet. */
  *makeFirstOperator(digest: Uint8Array, user: UserRow, session: SessionRow): Script<LinkUse> {
    yield* lock(OPERATORS);
    if ((yield* row(OPERATOR)) !== undefined) return "invalid";
    const used = [digest, "first_operator", user.createTimeMs];
    if ((yield* row(LINK, ...used)) === undefined) return "invalid";
    // An address that is refused leaves the link to be used with another one.
    if (!(yield* insertUser(user))) return "email_taken";
    yield* rows(USE_LINK, ...used);
    yield* insertSession(session);
    return "used";
  },

  *userByEmail(email: string): Script<UserRow | undefined> {
    return toUser(yield* row<UserColumns>(USER_BY_EMAIL, email));
  },

  /** False where the person's password is another one by now. */
  *startSession(session: SessionRow, password: string | null): Script<boolean> {
    const user = yield* row<UserColumns>(`${USER} AND password IS NOT DISTINCT FROM ?`, session.userId, password);
    if (user === undefined) return false;
    yield* insertSession(session);
    yield* rows("UPDATE gateway_user SET sign_in_time_ms = ? WHERE id = ?", session.createTimeMs, session.userId);
    return true;
  },

  /** Undefined where the session ended. */
  *openSession(digest: Uint8Array, nowMs: number): Script<OpenSession | undefined> {
    const session = toSession(yield* row<SessionColumns>(SESSION, digest));
    if (session === undefined || isOver(session, nowMs)) return undefined;
    const user = toUser(yield* row<UserColumns>(USER, session.userId));
    if (user === undefined) return undefined;
    return { session, user, memberships: (yield* rows<MembershipColumns>(MEMBERSHIPS, user.id)).map(toMembership) };
  },

  *useSession(id: string, nowMs: number): Script<void> {
    yield* rows("UPDATE session SET use_time_ms = ? WHERE id = ? AND use_time_ms < ?", nowMs, id, nowMs);
  },

  /** False where the user has no such session. */
  *endSession(userId: string, id: string): Script<boolean> {
    return (yield* row("DELETE FROM session WHERE id = ? AND user_id = ? RETURNING id", id, userId)) !== undefined;
  },
};

function* insertUser(user: UserRow): Script<boolean> {
  const { id, email, name, password, installationRole, createTimeMs, signInTimeMs } = user;
  return (
    (yield* row(INSERT_USER, id, email, name, password, installationRole, createTimeMs, signInTimeMs)) !== undefined
  );
}

function* insertSession(session: SessionRow): Script<void> {
  const { id, digest, userId, createTimeMs, useTimeMs, address, userAgent } = session;
  yield* rows(END_OLD, userId, createTimeMs - SESSION_WHOLE_MS, createTimeMs - SESSION_IDLE_MS);
  yield* rows(INSERT_SESSION, id, digest, userId, createTimeMs, useTimeMs, address, userAgent);
  yield* rows(END_OLDEST, userId, userId);
}

/** True where a session ended by its age, or because nobody used it. */
export function isOver({ createTimeMs, useTimeMs }: SessionRow, nowMs: number): boolean {
  return nowMs - createTimeMs >= SESSION_WHOLE_MS || nowMs - useTimeMs >= SESSION_IDLE_MS;
}

function toUser(found: UserColumns | undefined): UserRow | undefined {
  if (found === undefined) return undefined;
  return {
    id: found.id,
    email: found.email,
    name: found.name,
    password: found.password,
    installationRole: found.installation_role,
    createTimeMs: Number(found.create_time_ms),
    signInTimeMs: toTimeMs(found.sign_in_time_ms),
  };
}

function toSession(found: SessionColumns | undefined): SessionRow | undefined {
  if (found === undefined) return undefined;
  return {
    id: found.id,
    digest: found.digest,
    userId: found.user_id,
    createTimeMs: Number(found.create_time_ms),
    useTimeMs: Number(found.use_time_ms),
    address: found.address,
    userAgent: found.user_agent,
  };
}

function toMembership(found: MembershipColumns): MembershipRow {
  return {
    accountId: found.account_id,
    accountName: found.name,
    userId: found.user_id,
    role: found.role,
    createTimeMs: Number(found.create_time_ms),
  };
}
