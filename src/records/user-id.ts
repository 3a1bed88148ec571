/**
 * Ids of users that name no person. Claude Code writes its device, its account and its session into `metadata.user_id`:
 * `user_<hash>_account_<id>_session_<id>`, and in newer releases a JSON text with `session_id`.
 */

const WORDS = /^user_[0-9a-f]{16,128}_account_[^_]{0,64}_session_(.{0,256})$/;
/** Records keep the first 256 characters, so that the text may end before its object does. */
const JSON_TEXT = /^\s*\{.{0,4096}?"(?:device_id|account_uuid|session_id)"\s*:/s;
const SESSION_IN_JSON = /"session_id"\s*:\s*"([^"\\]{0,256})"/;

/** The session in such an id, empty where it has none; undefined where the id is of a person. */
export function sessionOfUserId(id: string): string | undefined {
  if (!id.startsWith("user_") && !id.trimStart().startsWith("{")) return undefined;
  const [, session] = WORDS.exec(id) ?? [];
  if (session !== undefined) return session;
  return JSON_TEXT.test(id) ? (SESSION_IN_JSON.exec(id)?.[1] ?? "") : undefined;
}
