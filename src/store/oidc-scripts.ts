/** What is asked of the tables of people about sign-ins at OpenID Connect issuers, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import { hasRoom, joinAccount, joinBy, type Joined, mayJoin } from "./member-scripts.js";
import {
  type LinkColumns,
  type LinkRow,
  type SessionRow,
  toLink,
  toUser,
  type UserColumns,
  type UserRow,
  USERS,
} from "./people-rows.js";
import { endOldLinks, holdUser, insertSession, insertUser } from "./people-writes.js";
import { audit, lock, row, rows, type Script } from "./script.js";

/** Who somebody is at an issuer. The pair never names another person, whatever becomes of the e-mail address. */
export interface OidcIdentity {
  /** The issuer's address. */
  readonly issuer: string;
  readonly subject: string;
}

/** What is known of somebody whom an issuer vouches for. */
export interface OidcFacts {
  /** Whose the identity is. */
  readonly bound: UserRow | undefined;
  /** Who has the e-mail address here. */
  readonly named: UserRow | undefined;
  /** True where that person has an identity, at whatever issuer. */
  readonly namedHasIdentity: boolean;
  /** True where that person has another identity at this issuer. */
  readonly namedHasOther: boolean;
}

/** How somebody comes in: as the one whose identity it is, as one whose it becomes, or as somebody new. */
export type OidcWay = "bound" | "bind" | "new";

/** One sign-in, as it is written. */
export interface OidcEntry {
  readonly way: OidcWay;
  readonly identity: OidcIdentity;
  /** Of somebody new, as it will be; else as it was when the identity was judged. */
  readonly user: UserRow;
  readonly session: SessionRow;
  /** What names the sign-in that was begun: it is good for one session. */
  readonly used: Uint8Array;
  readonly usedUntilMs: number;
  /** The digest of an invitation's token that came along; null where none did. */
  readonly invitation: Uint8Array | null;
  /** Where somebody new belongs whom nobody invited; null: nowhere, and then nobody comes in. */
  readonly otherwise: Joined | null;
}

/** How it went. `changed` asks to begin anew: something of the person is another since it was looked at. */
export type OidcResult = "done" | "used" | "changed" | "link_invalid" | "uninvited" | "full";

const BOUND = `${USERS} WHERE id = (SELECT user_id FROM oidc_identity WHERE issuer = ? AND subject = ?) LIMIT 1`;
const NAMED = `${USERS} WHERE email = ?`;
const ISSUERS_OF = "SELECT issuer FROM oidc_identity WHERE user_id = ? ORDER BY issuer LIMIT 100";
const USE = `INSERT INTO oidc_used (digest, expire_time_ms) VALUES (?, ?)
  ON CONFLICT DO NOTHING RETURNING expire_time_ms`;
const FORGET_USED = "DELETE FROM oidc_used WHERE expire_time_ms <= ?";
const BIND = `INSERT INTO oidc_identity (issuer, subject, user_id, create_time_ms) VALUES (?, ?, ?, ?)
  ON CONFLICT DO NOTHING RETURNING user_id`;
const INVITATION = "SELECT * FROM link WHERE digest = ? AND kind = 'invitation'";
/** Whoever makes somebody an operator hands over the link. */
const INVITED = `SELECT * FROM link WHERE email = ? AND kind = 'invitation' AND installation_role IS NULL
  ORDER BY id LIMIT 20`;

export const OIDC_SCRIPTS = {
  *oidcFacts({ issuer, subject }: OidcIdentity, email: string): Script<OidcFacts> {
    const bound = toUser(yield* row<UserColumns>(BOUND, issuer, subject));
    const named = toUser(yield* row<UserColumns>(NAMED, email));
    const issuers = yield* rows<{ readonly issuer: string }>(ISSUERS_OF, named?.id ?? "");
    const isOther = bound === undefined || bound.id !== named?.id;
    const namedHasOther = isOther && issuers.some((one) => one.issuer === issuer);
    return { bound, named, namedHasIdentity: issuers.length > 0, namedHasOther };
  },

  /** Begins a session, once for each sign-in that was begun. The events are written where it does. */
  *oidcSignIn(entry: OidcEntry, events: readonly AuditEvent[]): Script<OidcResult> {
    const { way, identity, user, session } = entry;
    const nowMs = session.createTimeMs;
    const key = [identity.issuer, identity.subject];
    yield* lock(`oidc ${key.join(" ")}`);
    yield* rows(FORGET_USED, nowMs);
    yield* endOldLinks(nowMs);
    if ((yield* row(USE, entry.used, entry.usedUntilMs)) === undefined) return "used";
    const bound = toUser(yield* row<UserColumns>(BOUND, ...key));
    if (bound?.id !== (way === "bound" ? user.id : undefined)) return "changed";
    const links = yield* invitationsOf(entry);
    if (links === undefined) return "link_invalid";
    const problem = yield* way === "new" ? makeNew(entry, links.length > 0) : holdFound(entry);
    if (problem !== undefined) return problem;
    // Of somebody new it cannot fail: nobody else has the identity while the lock is held.
    if (way !== "bound" && (yield* row(BIND, ...key, user.id, nowMs)) === undefined) return "changed";
    for (const link of links) yield* joinBy(link, user.id, nowMs);
    yield* insertSession(session);
    yield* rows("UPDATE gateway_user SET sign_in_time_ms = ? WHERE id = ?", nowMs, user.id);
    for (const event of events) yield* audit(event);
    return "done";
  },

  /** The next sign-in at an issuer is the person's first one. */
  *forgetOidcIdentities(userId: string): Script<void> {
    yield* holdUser(userId);
    yield* rows("DELETE FROM oidc_identity WHERE user_id = ?", userId);
  },
};

/** The one whose token came along; of somebody new else all for the address. Undefined where the token's is over. */
function* invitationsOf({ way, user, invitation, session }: OidcEntry): Script<readonly LinkRow[] | undefined> {
  if (invitation !== null) {
    const found = yield* row<LinkColumns>(INVITATION, invitation);
    const link = found && toLink(found);
    // One that names an address lets in that address alone.
    if (link === undefined || (link.email !== null && link.email !== user.email)) return undefined;
    return (yield* mayJoin(link, user.id, session.createTimeMs)) ? [link] : undefined;
  }
  if (way !== "new") return [];
  const open: LinkRow[] = [];
  for (const link of (yield* rows<LinkColumns>(INVITED, user.email)).map(toLink))
    if (yield* mayJoin(link, user.id, session.createTimeMs)) open.push(link);
  return open;
}

/** Says whether somebody who is here already changed since the identity was judged, and holds the person as it is. */
function* holdFound({ way, identity, user }: OidcEntry): Script<OidcResult | undefined> {
  const now = yield* holdUser(user.id);
  // Who has no code yet was asked for none.
  if (now === undefined || now.secondFactor !== user.secondFactor) return "changed";
  if (way === "bind") return now.email === user.email && now.password === user.password ? undefined : "changed";
  const bound = yield* row<UserColumns>(BOUND, identity.issuer, identity.subject);
  return bound?.id === user.id ? undefined : "changed";
}

/** Makes somebody new, in the account for those whom nobody invited. Says why not. */
function* makeNew({ user, otherwise }: OidcEntry, isInvited: boolean): Script<OidcResult | undefined> {
  if (!isInvited && otherwise === null) return "uninvited";
  if (!isInvited && otherwise !== null && !(yield* hasRoom(otherwise.accountId))) return "full";
  if (!(yield* insertUser(user))) return "changed";
  if (!isInvited && otherwise !== null) yield* joinAccount(otherwise, user.id, user.createTimeMs);
  return undefined;
}
