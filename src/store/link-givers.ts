/** Whether somebody may give a link, asked where it is made and again where it is used. */
import { KeySettings } from "../../gen/tollgate/v1/key_service.js";
import { KEY, type KeyColumns, toKey } from "./key-rows.js";
import type { InstallationRole, LinkRow, MemberRole } from "./people-rows.js";
import { row, type Script } from "./script.js";
import type { KeyRow } from "./store.js";

type PersonRole = InstallationRole | MemberRole;

/** What a person is in an account, or with no account in the whole installation. */
const ROLE_IN = `SELECT COALESCE(gateway_user.installation_role, membership.role) AS role FROM gateway_user
  LEFT JOIN membership ON membership.user_id = gateway_user.id AND membership.account_id = ?
  WHERE gateway_user.id = ?`;
/** More than any key has makers. */
const MAKERS_MAX = 16;

/** Undefined where the person has no business there. */
export function* roleIn(accountId: string, userId: string): Script<PersonRole | undefined> {
  return (yield* row<{ readonly role: PersonRole | null }>(ROLE_IN, accountId, userId))?.role ?? undefined;
}

/** Operators give everything; owners and admins a place in their account, but only owners that of an owner. */
export function mayGive(
  giver: PersonRole | "none",
  { kind, accountId, role }: Pick<LinkRow, "kind" | "accountId" | "role">,
): boolean {
  if (giver === "operator") return true;
  if (kind !== "invitation" || accountId === null) return false;
  return giver === "owner" || (giver === "admin" && role !== "owner");
}

/**
 * True where whoever gave the link may give it now: a person by the role of now, a key as long as it lives as an
 * operator's. It is read with the use of the link, so that no way to lose a right has to think of links.
 */
export function* isStillGiven(link: LinkRow, nowMs: number): Script<boolean> {
  const { giverUserId, giverKeyId, accountId } = link;
  if (giverKeyId !== null) return yield* isOperatorsKey(giverKeyId, nowMs);
  if (giverUserId === null) return true;
  return mayGive((yield* roleIn(accountId ?? "", giverUserId)) ?? "none", link);
}

function* isOperatorsKey(id: string, nowMs: number): Script<boolean> {
  let key = yield* keyOf(id);
  if (key === undefined || hasEnded(key, nowMs) || !settingsOf(key).scopes.includes("operator")) return false;
  for (let count = 0; key.makerId !== null; count++) {
    const maker: KeyRow | undefined = count < MAKERS_MAX ? yield* keyOf(key.makerId) : undefined;
    if (maker === undefined || (settingsOf(maker).childrenEndWithIt && hasEnded(maker, nowMs))) return false;
    key = maker;
  }
  // What operators may ends, in the keys that they made, with their role.
  return typeof key.makerUserId !== "string" || (yield* roleIn("", key.makerUserId)) === "operator";
}

function* keyOf(id: string): Script<KeyRow | undefined> {
  return toKey(yield* row<KeyColumns>(KEY, id));
}

function settingsOf({ settings }: KeyRow): KeySettings {
  return KeySettings.decode(settings);
}

function hasEnded(key: KeyRow, nowMs: number): boolean {
  return key.revokeTimeMs !== null || (settingsOf(key).expireTime?.getTime() ?? Infinity) <= nowMs;
}
