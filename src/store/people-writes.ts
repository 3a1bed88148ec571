/** Rows of people as they are written by more than one script. */
import { type LinkRow, SESSION_IDLE_MS, SESSION_WHOLE_MS, type SessionRow, type UserRow } from "./people-rows.js";
import { row, rows, type Script } from "./script.js";

/** A user has at most so many sessions; the oldest one makes room. */
const SESSIONS_MAX = 50;
const INSERT_SESSION = `INSERT INTO session (id, digest, user_id, create_time_ms, use_time_ms, address, user_agent)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const END_OLDEST = `DELETE FROM session WHERE user_id = ? AND id NOT IN
  (SELECT id FROM session WHERE user_id = ? ORDER BY create_time_ms DESC, id DESC LIMIT ${SESSIONS_MAX})`;
const END_OLD = "DELETE FROM session WHERE user_id = ? AND (create_time_ms <= ? OR use_time_ms <= ?)";
const INSERT_USER = `INSERT INTO gateway_user
  (id, email, name, password, installation_role, create_time_ms, sign_in_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`;
const INSERT_LINK = `INSERT INTO link
  (id, digest, kind, account_id, role, installation_role, email, user_id, create_time_ms, expire_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const END_LINKS = "DELETE FROM link WHERE expire_time_ms <= ?";

export function* insertUser(user: UserRow): Script<boolean> {
  const { id, email, name, password, installationRole, createTimeMs, signInTimeMs } = user;
  return (
    (yield* row(INSERT_USER, id, email, name, password, installationRole, createTimeMs, signInTimeMs)) !== undefined
  );
}

export function* insertSession(session: SessionRow): Script<void> {
  const { id, digest, userId, createTimeMs, useTimeMs, address, userAgent } = session;
  yield* rows(END_OLD, userId, createTimeMs - SESSION_WHOLE_MS, createTimeMs - SESSION_IDLE_MS);
  yield* rows(INSERT_SESSION, id, digest, userId, createTimeMs, useTimeMs, address, userAgent);
  yield* rows(END_OLDEST, userId, userId);
}

/** Also forgets links that are over. */
export function* insertLink(link: LinkRow): Script<void> {
  const { id, digest, kind, accountId, role, installationRole, email, userId, createTimeMs, expireTimeMs } = link;
  yield* rows(END_LINKS, createTimeMs);
  const named = [accountId, role, installationRole, email, userId];
  yield* rows(INSERT_LINK, id, digest, kind, ...named, createTimeMs, expireTimeMs);
}
