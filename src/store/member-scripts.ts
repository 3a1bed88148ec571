/** What is asked of the tables of people about members, invitations and passwords, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import { isStillGiven, roleIn } from "./link-givers.js";
import { changeableValues, KEY, type KeyColumns, REPLACE_KEY, toKey } from "./key-rows.js";
import {
  FACTORS,
  type InvitationRow,
  type MemberRow,
  type MemberRole,
  type LinkRow,
  type SessionRow,
  toLink,
  toSession,
  toUser,
  type LinkColumns,
  type SessionColumns,
  type UserColumns,
  type UserRow,
  USERS,
} from "./people-rows.js";
import {
  endOldLinks,
  findUser,
  holdAsJudged,
  holdUser,
  insertLink,
  insertSession,
  insertUser,
  SESSIONS_MAX,
} from "./people-writes.js";
import { audit, lock, row, rows, type Script } from "./script.js";

const OWNERS = "SELECT user_id FROM membership WHERE account_id = ? AND role = 'owner' AND user_id <> ? LIMIT 1";
const MEMBERS = `SELECT gateway_user.*, membership.role AS role, membership.create_time_ms AS member_time_ms,
    ${FACTORS}
  FROM membership JOIN gateway_user ON gateway_user.id = membership.user_id
  WHERE membership.account_id = ?`;
const MEMBERS_PAGE = `${MEMBERS} AND membership.user_id > ? ORDER BY membership.user_id LIMIT ?`;
const MEMBER = "SELECT role FROM membership WHERE account_id = ? AND user_id = ?";
const ACCOUNTS_OF_MAKER = "SELECT DISTINCT account_id FROM key WHERE maker_user_id = ? ORDER BY account_id LIMIT 10000";
const INVITATIONS = `SELECT * FROM link WHERE kind = 'invitation' AND account_id = ? AND expire_time_ms > ? AND id > ?
  ORDER BY id LIMIT ?`;
const COUNT_INVITATIONS = "SELECT COUNT(*) AS count FROM link WHERE kind = 'invitation' AND account_id = ?";
const COUNT_MEMBERS = "SELECT COUNT(*) AS count FROM membership WHERE account_id = ?";
const COUNT_ACCOUNTS = "SELECT COUNT(*) AS count FROM membership WHERE user_id = ?";
const JOIN = `INSERT INTO membership (account_id, user_id, role, create_time_ms) VALUES (?, ?, ?, ?)
  ON CONFLICT (account_id, user_id) DO NOTHING`;
const LIVE_LINK = "SELECT * FROM link WHERE digest = ? AND kind = ? AND expire_time_ms > ?";
const SESSIONS = `SELECT * FROM session WHERE user_id = ? ORDER BY id LIMIT ${SESSIONS_MAX}`;
const END_SESSIONS = "DELETE FROM session WHERE user_id = ?";
/** What goes with a person. */
const OF_USER = [
  "membership",
  "link",
  "known_address",
  "second_factor",
  "recovery_code",
  "passkey",
  "oidc_identity",
].map((table) => `DELETE FROM ${table} WHERE user_id = ?`);
const HIDDEN_KEY = "playground_key WHERE user_id = ?";
const ACCOUNTS_OF_KEYS = `SELECT account_id FROM ${HIDDEN_KEY} ORDER BY account_id LIMIT 10000`;
const TAKE_HIDDEN_KEY = `DELETE FROM ${HIDDEN_KEY} AND account_id = ? RETURNING key_id`;
/** A call that began before its person left must not bring a key back. */
const ADD_HIDDEN_KEY = `INSERT INTO playground_key (user_id, account_id, key_id)
  SELECT CAST(? AS text), CAST(? AS text), CAST(? AS text)
  WHERE EXISTS (SELECT 1 FROM membership WHERE user_id = ? AND account_id = ?)
    OR EXISTS (SELECT 1 FROM gateway_user WHERE id = ? AND installation_role IS NOT NULL)
  ON CONFLICT DO NOTHING`;
const USE_LINK = "DELETE FROM link WHERE id = ? RETURNING id";

/** An account has at most so many open invitations, and invites nobody where it has so many members. */
export const INVITATIONS_MAX = 200;
export const MEMBERS_MAX = 1_000;
/** An invitation that is accepted: all that are open may still join, and a person may be in so many accounts. */
export const JOINED_MAX = MEMBERS_MAX + INVITATIONS_MAX;

/** Whether an account had room for one more invitation. */
export type InvitationRoom = "done" | "many_invitations" | "many_members";

/** How a change of a member ended. */
export type MemberChange = "done" | "unknown" | "last_owner" | "forbidden";

/** How a person was removed, and in which accounts hidden keys ended, under which the person's own keys stand. */
export interface Removal {
  readonly change: MemberChange;
  readonly accountIds: readonly string[];
}

/** Only an owner makes, changes and removes owners. */
export interface MemberParams {
  readonly accountId: string;
  readonly userId: string;
  /** Null removes the member. */
  readonly role: MemberRole | null;
  readonly byOwner: boolean;
  /** Where the member is removed: whether the keys that the person made in the account live on. */
  readonly keepsKeys: boolean;
  readonly nowMs: number;
}

/** What somebody shows to set a password: the one that is in force, or a link. */
export type ShownForPassword = Pick<UserRow, "password"> | { readonly link: LinkRow; readonly nowMs: number };

/** Who accepts which invitation. */
export interface Acceptance {
  readonly link: LinkRow;
  readonly user: UserRow;
  readonly session: SessionRow;
  readonly isNew: boolean;
}

/** Somebody whom an operator makes. */
export interface NewPerson {
  readonly user: UserRow;
  readonly link: LinkRow;
  readonly accountId: string | null;
  readonly role: MemberRole;
}

export const MEMBER_SCRIPTS = {
  /** As whoever signs in is now. */
  roleIn,

  /** The accounts in which stand keys that the person made, hidden ones too. */
  *accountsOfMaker(userId: string): Script<readonly string[]> {
    return yield* accountsOf(ACCOUNTS_OF_MAKER, userId);
  },

  /** By the ids of the users, from behind one of them. */
  *members(accountId: string, afterId: string, count: number): Script<readonly MemberRow[]> {
    const found = yield* rows<MemberColumns>(MEMBERS_PAGE, accountId, afterId, count);
    return found.flatMap((one) => toMember(one) ?? []);
  },

  *member(accountId: string, userId: string): Script<MemberRow | undefined> {
    return toMember(yield* row<MemberColumns>(`${MEMBERS} AND membership.user_id = ?`, accountId, userId));
  },

  /** An account that has members keeps an owner. */
  *changeMember(params: MemberParams, event: AuditEvent): Script<MemberChange> {
    const { accountId, userId, role, byOwner, keepsKeys, nowMs } = params;
    yield* lock(`members ${accountId}`);
    const member = yield* row<{ readonly role: MemberRole }>(MEMBER, accountId, userId);
    if (member === undefined) return "unknown";
    if (!byOwner && (member.role === "owner" || role === "owner")) return "forbidden";
    if (member.role === "owner" && role !== "owner" && (yield* row(OWNERS, accountId, userId)) === undefined)
      return "last_owner";
    if (role === null) {
      yield* holdUser(userId);
      yield* rows("DELETE FROM membership WHERE account_id = ? AND user_id = ?", accountId, userId);
      if (!keepsKeys) yield* endHiddenKey(accountId, userId, nowMs);
    } else yield* rows("UPDATE membership SET role = ? WHERE account_id = ? AND user_id = ?", role, accountId, userId);
    yield* audit(event);
    return "done";
  },

  /** Those that are over take no room. */
  *invite(link: LinkRow, event: AuditEvent): Script<InvitationRoom> {
    if (link.accountId !== null) {
      yield* lock(`members ${link.accountId}`);
      yield* endOldLinks(link.createTimeMs);
      if ((yield* countOf(COUNT_INVITATIONS, link.accountId)) >= INVITATIONS_MAX) return "many_invitations";
      if ((yield* countOf(COUNT_MEMBERS, link.accountId)) >= MEMBERS_MAX) return "many_members";
    }
    yield* insertLink(link);
    yield* audit(event);
    return "done";
  },

  *invitations(accountId: string, nowMs: number, afterId: string, count: number): Script<readonly InvitationRow[]> {
    return (yield* rows<LinkColumns>(INVITATIONS, accountId, nowMs, afterId, count)).map(toLink);
  },

  *endInvitation(accountId: string, id: string, event: AuditEvent): Script<boolean> {
    const ended = yield* row("DELETE FROM link WHERE id = ? AND account_id = ? RETURNING id", id, accountId);
    if (ended !== undefined) yield* audit(event);
    return ended !== undefined;
  },

  *liveLink(digest: Uint8Array, kind: LinkRow["kind"], nowMs: number): Script<LinkRow | undefined> {
    const found = yield* row<LinkColumns>(LIVE_LINK, digest, kind, nowMs);
    return found && toLink(found);
  },

  /**
   * The invited person joins: a new one is made where `isNew`. False where the link, or the address, is taken, or the
   * person signs in otherwise by now than as was judged.
   */
  *acceptInvitation({ link, user, session, isNew }: Acceptance, event: AuditEvent): Script<boolean> {
    if (!(yield* mayJoin(link, user.id, session.createTimeMs))) return false;
    if (!(yield* isNew ? insertUser(user) : holdAsJudged(user.id, user))) return false;
    yield* joinBy(link, user.id, session.createTimeMs);
    yield* insertSession(session);
    yield* audit(event);
    return true;
  },

  /** A new password ends every session, and every link of the person. False where what was shown for it is over. */
  *setPassword(userId: string, password: string, shown: ShownForPassword, event: AuditEvent): Script<boolean> {
    const user = yield* holdUser(userId);
    if (user === undefined) return false;
    if ("password" in shown ? user.password !== shown.password : !(yield* useLink(shown.link, shown.nowMs)))
      return false;
    yield* rows("UPDATE gateway_user SET password = ? WHERE id = ?", password, userId);
    yield* rows(END_SESSIONS, userId);
    yield* rows("DELETE FROM link WHERE user_id = ?", userId);
    yield* audit(event);
    return true;
  },

  *sessions(userId: string): Script<readonly SessionRow[]> {
    const found = yield* rows<SessionColumns>(SESSIONS, userId);
    return found.flatMap((one) => toSession(one) ?? []);
  },

  *endSessions(userId: string, event: AuditEvent): Script<void> {
    yield* rows(END_SESSIONS, userId);
    yield* audit(event);
  },

  /** False where the person is not there any more. */
  *nameUser(id: string, name: string, event: AuditEvent): Script<boolean> {
    if ((yield* row("UPDATE gateway_user SET name = ? WHERE id = ? RETURNING id", name, id)) === undefined)
      return false;
    yield* audit(event);
    return true;
  },

  /** By their ids, from behind one of them. */
  *users(afterId: string, count: number): Script<readonly UserRow[]> {
    const found = yield* rows<UserColumns>(`${USERS} WHERE id > ? ORDER BY id LIMIT ?`, afterId, count);
    return found.flatMap((one) => toUser(one) ?? []);
  },

  user: findUser,

  /** Whoever is removed leaves every account; the last operator stays. */
  *removeUser(id: string, keepsKeys: boolean, nowMs: number, event: AuditEvent): Script<Removal> {
    yield* lock("operators");
    const user = yield* holdUser(id);
    if (user === undefined) return { change: "unknown", accountIds: [] };
    const others = "SELECT id FROM gateway_user WHERE installation_role = 'operator' AND id <> ? LIMIT 1";
    if (user.installationRole === "operator" && (yield* row(others, id)) === undefined)
      return { change: "last_owner", accountIds: [] };
    for (const sql of [END_SESSIONS, ...OF_USER]) yield* rows(sql, id);
    const accountIds = keepsKeys ? [] : yield* accountsOf(ACCOUNTS_OF_KEYS, id);
    for (const accountId of accountIds) yield* endHiddenKey(accountId, id, nowMs);
    yield* rows("DELETE FROM gateway_user WHERE id = ?", id);
    yield* audit(event);
    return { change: "done", accountIds };
  },

  /** A person whom an operator makes, with the link to the first password. False where the address is known. */
  *createUser({ user, link, accountId, role }: NewPerson, event: AuditEvent): Script<boolean> {
    if (!(yield* insertUser(user))) return false;
    if (accountId !== null) yield* rows(JOIN, accountId, user.id, role, user.createTimeMs);
    yield* insertLink(link);
    yield* audit(event);
    return true;
  },

  *setInstallationRole(id: string, role: UserRow["installationRole"], event: AuditEvent): Script<MemberChange> {
    yield* lock("operators");
    const others = "SELECT id FROM gateway_user WHERE installation_role = 'operator' AND id <> ? LIMIT 1";
    const user = yield* findUser(id);
    if (user === undefined) return "unknown";
    if (user.installationRole === "operator" && role !== "operator" && (yield* row(others, id)) === undefined)
      return "last_owner";
    yield* rows("UPDATE gateway_user SET installation_role = ? WHERE id = ?", role, id);
    yield* audit(event);
    return "done";
  },

  /**
   * The id of the hidden key by which a person tries models in an account: the one that is there, else this one. Empty
   * where the person has no business in the account any more.
   */
  *playgroundKey(userId: string, accountId: string, keyId: string): Script<string> {
    if (keyId !== "" && (yield* holdUser(userId)) !== undefined)
      yield* rows(ADD_HIDDEN_KEY, userId, accountId, keyId, userId, accountId, userId);
    const found = yield* row<{ readonly key_id: string }>(
      "SELECT key_id FROM playground_key WHERE user_id = ? AND account_id = ?",
      userId,
      accountId,
    );
    return found?.key_id ?? "";
  },
};

function* accountsOf(sql: string, userId: string): Script<readonly string[]> {
  return (yield* rows<{ readonly account_id: string }>(sql, userId)).map((one) => one.account_id);
}

/** With it ends, on every node, whatever stands under it; whoever joins again gets another one. */
function* endHiddenKey(accountId: string, userId: string, nowMs: number): Script<void> {
  const found = yield* row<{ readonly key_id: string }>(TAKE_HIDDEN_KEY, userId, accountId);
  const key = found && toKey(yield* row<KeyColumns>(KEY, found.key_id));
  if (key === undefined || key.revokeTimeMs !== null) return;
  const ended = { ...key, revokeTimeMs: nowMs, revision: key.revision + 1 };
  yield* rows(REPLACE_KEY, ...changeableValues(ended), ended.id, key.revision);
}

/** False where the link is used, or its giver may give it no more. */
function* useLink(link: LinkRow, nowMs: number): Script<boolean> {
  return (yield* isStillGiven(link, nowMs)) && (yield* row(USE_LINK, link.id)) !== undefined;
}

/** Whether an invitation still holds, with room for one more; it stays there until the script ends. */
export function* mayJoin(link: LinkRow, userId: string, nowMs: number): Script<boolean> {
  yield* lock(`link ${link.id}`);
  if ((yield* row("SELECT id FROM link WHERE id = ?", link.id)) === undefined) return false;
  if (!(yield* isStillGiven(link, nowMs))) return false;
  if (link.accountId === null) return true;
  if ((yield* countOf(COUNT_MEMBERS, link.accountId)) >= JOINED_MAX) return false;
  return (yield* countOf(COUNT_ACCOUNTS, userId)) < JOINED_MAX;
}

/** Uses up an invitation for a person. */
export function* joinBy(link: LinkRow, userId: string, nowMs: number): Script<void> {
  yield* rows(USE_LINK, link.id);
  if (link.installationRole !== null) {
    const sql = "UPDATE gateway_user SET installation_role = ? WHERE id = ?";
    yield* rows(sql, link.installationRole, userId);
  }
  if (link.accountId !== null && link.role !== null)
    yield* joinAccount({ accountId: link.accountId, role: link.role }, userId, nowMs);
}

export interface Joined {
  readonly accountId: string;
  readonly role: MemberRole;
}

export function* joinAccount({ accountId, role }: Joined, userId: string, nowMs: number): Script<void> {
  yield* rows(JOIN, accountId, userId, role, nowMs);
}

/** False where the account has as many members as it may without an invitation. */
export function* hasRoom(accountId: string): Script<boolean> {
  yield* lock(`members ${accountId}`);
  return (yield* countOf(COUNT_MEMBERS, accountId)) < MEMBERS_MAX;
}

interface MemberColumns extends UserColumns {
  readonly role: MemberRole;
  readonly member_time_ms: bigint;
}

function toMember(found: MemberColumns | undefined): MemberRow | undefined {
  const user = toUser(found);
  if (found === undefined || user === undefined) return undefined;
  return { user, role: found.role, createTimeMs: Number(found.member_time_ms) };
}

function* countOf(sql: string, id: string): Script<number> {
  return Number((yield* row<{ readonly count: bigint }>(sql, id))?.count ?? 0);
}
