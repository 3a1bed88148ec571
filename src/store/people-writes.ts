/** Rows of people as they are written by more than one script. */
import {
  addressBlock,
  type LinkRow,
  SESSION_IDLE_MS,
  SESSION_WHOLE_MS,
  type SessionRow,
  toUser,
  type UserColumns,
  type UserRow,
  USERS,
} from "./people-rows.js";
import { lock, row, rows, type Script } from "./script.js";

/** A user has at most so many sessions; the oldest one makes room. */
export const SESSIONS_MAX = 50;
const INSERT_SESSION = `INSERT INTO session
  (id, digest, user_id, create_time_ms, use_time_ms, address, user_agent, method, proof_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const END_OLDEST = `DELETE FROM session WHERE user_id = ? AND id NOT IN
  (SELECT id FROM session WHERE user_id = ? ORDER BY create_time_ms DESC, id DESC LIMIT ${SESSIONS_MAX})`;
const END_OLD = "DELETE FROM session WHERE user_id = ? AND (create_time_ms <= ? OR use_time_ms <= ?)";
/** A person comes from at most so many addresses that are remembered; the one unused longest makes room. */
const ADDRESSES_MAX = 20;
const KNOW_ADDRESS = `INSERT INTO known_address (user_id, address, use_time_ms) VALUES (?, ?, ?)
  ON CONFLICT (user_id, address) DO UPDATE SET use_time_ms = excluded.use_time_ms`;
const FORGET_ADDRESSES = `DELETE FROM known_address WHERE user_id = ? AND address NOT IN
  (SELECT address FROM known_address WHERE user_id = ? ORDER BY use_time_ms DESC, address LIMIT ${ADDRESSES_MAX})`;
const INSERT_USER = `INSERT INTO gateway_user
  (id, email, name, password, installation_role, create_time_ms, sign_in_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`;
const INSERT_LINK = `INSERT INTO link
  (id, digest, kind, account_id, role, installation_role, email, user_id, giver_user_id, giver_key_id,
    create_time_ms, expire_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const END_LINKS = "DELETE FROM link WHERE expire_time_ms <= ?";

export function* findUser(id: string): Script<UserRow | undefined> {
  return toUser(yield* row<UserColumns>(`${USERS} WHERE id = ?`, id));
}

/**
 * The person as it is until the script ends: nobody removes it before, or changes how it signs in. A script that writes
 * for a person who is there asks this first, and takes no other lock behind it.
 */
export function* holdUser(userId: string): Script<UserRow | undefined> {
  yield* lock(`user ${userId}`);
  return yield* findUser(userId);
}

/** By what somebody is let in. */
export type SignInWay = Pick<UserRow, "password" | "secondFactor">;

/** As `holdUser`. False where the person signs in otherwise by now, by another password or with a second factor. */
export function* holdAsJudged(userId: string, { password, secondFactor }: SignInWay): Script<boolean> {
  const user = yield* holdUser(userId);
  return user !== undefined && user.password === password && user.secondFactor === secondFactor;
}

export function* insertUser(user: UserRow): Script<boolean> {
  const { id, email, name, password, installationRole, createTimeMs, signInTimeMs } = user;
  return (
    (yield* row(INSERT_USER, id, email, name, password, installationRole, createTimeMs, signInTimeMs)) !== undefined
  );
}

export function* insertSession(session: SessionRow): Script<void> {
  const { id, digest, userId, createTimeMs, useTimeMs, address, userAgent, method, proofTimeMs } = session;
  yield* rows(END_OLD, userId, createTimeMs - SESSION_WHOLE_MS, createTimeMs - SESSION_IDLE_MS);
  const device = [address, userAgent, method];
  yield* rows(INSERT_SESSION, id, digest, userId, createTimeMs, useTimeMs, ...device, proofTimeMs);
  yield* rows(END_OLDEST, userId, userId);
  yield* rows(KNOW_ADDRESS, userId, addressBlock(address), createTimeMs);
  yield* rows(FORGET_ADDRESSES, userId, userId);
}

export function* endOldLinks(nowMs: number): Script<void> {
  yield* rows(END_LINKS, nowMs);
}

/** Also forgets links that are over. */
export function* insertLink(link: LinkRow): Script<void> {
  const { id, digest, kind, accountId, role, installationRole, email, userId, createTimeMs, expireTimeMs } = link;
  yield* endOldLinks(createTimeMs);
  const leads = [accountId, role, installationRole, email, userId];
  yield* rows(INSERT_LINK, id, digest, kind, ...leads, link.giverUserId, link.giverKeyId, createTimeMs, expireTimeMs);
}
