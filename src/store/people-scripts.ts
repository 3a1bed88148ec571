/** What is asked of the tables of people, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import {
  isOver,
  type LinkRow,
  type MembershipRow,
  type OpenSession,
  type SessionColumns,
  type SessionRow,
  toSession,
  type SignInFacts,
  toUser,
  type UserColumns,
  USERS,
  type UserRow,
} from "./people-rows.js";
import { CARD_SCRIPTS } from "./card-scripts.js";
import { FACTOR_SCRIPTS } from "./factor-scripts.js";
import { JOINED_MAX, MEMBER_SCRIPTS } from "./member-scripts.js";
import { OIDC_SCRIPTS } from "./oidc-scripts.js";
import { PASSKEY_SCRIPTS } from "./passkey-scripts.js";
import { PAYMENT_SCRIPTS } from "./payment-scripts.js";
import { PRICE_LIST_SCRIPTS } from "./price-list-scripts.js";
import { QUOTA_SCRIPTS } from "./quota-scripts.js";
import { SETTINGS_SCRIPTS } from "./settings-scripts.js";
import {
  findUser,
  holdAsJudged,
  holdUser,
  insertLink,
  insertSession,
  insertUser,
  type SignInWay,
} from "./people-writes.js";
import { audit, lock, row, rows, type Script } from "./script.js";

interface MembershipColumns {
  readonly account_id: string;
  readonly name: string;
  readonly user_id: string;
  readonly role: MembershipRow["role"];
  readonly create_time_ms: bigint;
  readonly second_factor_required: bigint | null;
}

const OPERATORS = "operators";
const OPERATOR = "SELECT id FROM gateway_user WHERE installation_role = 'operator' LIMIT 1";
const USER_BY_EMAIL = `${USERS} WHERE email = ?`;
const KNOWN_ADDRESS = `SELECT known_address.address FROM known_address
  JOIN gateway_user ON gateway_user.id = known_address.user_id WHERE email = ? AND known_address.address = ?
  LIMIT 1`;
const MEMBERSHIPS = `SELECT membership.*, account.name, account_security.second_factor_required FROM membership
  JOIN account ON account.id = membership.account_id
  LEFT JOIN account_security ON account_security.account_id = membership.account_id
  WHERE membership.user_id = ? ORDER BY membership.account_id LIMIT ${JOINED_MAX}`;
const SESSION = "SELECT * FROM session WHERE digest = ?";
const LINK = "SELECT * FROM link WHERE digest = ? AND kind = ? AND expire_time_ms > ?";
const USE_LINK = "DELETE FROM link WHERE digest = ? AND kind = ? AND expire_time_ms > ?";

/** How a link was used. */
export type LinkUse = "used" | "invalid" | "email_taken";

export const PEOPLE_SCRIPTS = {
  ...MEMBER_SCRIPTS,
  ...FACTOR_SCRIPTS,
  ...PASSKEY_SCRIPTS,
  ...OIDC_SCRIPTS,
  ...PAYMENT_SCRIPTS,
  ...CARD_SCRIPTS,
  ...SETTINGS_SCRIPTS,
  ...PRICE_LIST_SCRIPTS,
  ...QUOTA_SCRIPTS,

  *operatorExists(): Script<boolean> {
    return (yield* row(OPERATOR)) !== undefined;
  },

  /** Also forgets links that are over. False where the person whose it would be is not there any more. */
  *makeLink(link: LinkRow): Script<boolean> {
    if (link.userId !== null && (yield* holdUser(link.userId)) === undefined) return false;
    yield* insertLink(link);
    return true;
  },

  /** Makes the first operator with a session, where the link holds and there is no operator yet. */
  *makeFirstOperator(digest: Uint8Array, user: UserRow, session: SessionRow, event: AuditEvent): Script<LinkUse> {
    yield* lock(OPERATORS);
    if ((yield* row(OPERATOR)) !== undefined) return "invalid";
    const used = [digest, "first_operator", user.createTimeMs];
    if ((yield* row(LINK, ...used)) === undefined) return "invalid";
    // An address that is refused leaves the link to be used with another one.
    if (!(yield* insertUser(user))) return "email_taken";
    yield* rows(USE_LINK, ...used);
    yield* insertSession(session);
    yield* audit(event);
    return "used";
  },

  /** As much is asked for an address that is nobody's. */
  *signInFacts(email: string, addressBlock: string): Script<SignInFacts> {
    const user = toUser(yield* row<UserColumns>(USER_BY_EMAIL, email));
    return { user, isKnownAddress: (yield* row(KNOWN_ADDRESS, email, addressBlock)) !== undefined };
  },

  /** False where the person signs in otherwise by now than as was judged. */
  *startSession(session: SessionRow, judged: SignInWay, event: AuditEvent): Script<boolean> {
    if (!(yield* holdAsJudged(session.userId, judged))) return false;
    yield* insertSession(session);
    yield* rows("UPDATE gateway_user SET sign_in_time_ms = ? WHERE id = ?", session.createTimeMs, session.userId);
    yield* audit(event);
    return true;
  },

  /** Undefined where the session ended. */
  *openSession(digest: Uint8Array, nowMs: number): Script<OpenSession | undefined> {
    const session = toSession(yield* row<SessionColumns>(SESSION, digest));
    if (session === undefined || isOver(session, nowMs)) return undefined;
    const user = yield* findUser(session.userId);
    if (user === undefined) return undefined;
    return { session, user, memberships: (yield* rows<MembershipColumns>(MEMBERSHIPS, user.id)).map(toMembership) };
  },

  *useSession(id: string, nowMs: number): Script<void> {
    yield* rows("UPDATE session SET use_time_ms = ? WHERE id = ? AND use_time_ms < ?", nowMs, id, nowMs);
  },

  /** False where the user has no such session. */
  *endSession(userId: string, id: string, event: AuditEvent): Script<boolean> {
    const ended = yield* row("DELETE FROM session WHERE id = ? AND user_id = ? RETURNING id", id, userId);
    if (ended !== undefined) yield* audit(event);
    return ended !== undefined;
  },
};

function toMembership(found: MembershipColumns): MembershipRow {
  return {
    accountId: found.account_id,
    accountName: found.name,
    userId: found.user_id,
    role: found.role,
    createTimeMs: Number(found.create_time_ms),
    secondFactorRequired: Number(found.second_factor_required ?? 0) === 1,
  };
}
