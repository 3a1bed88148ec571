/** Members of accounts, invitations, and the people of the installation. */
import { invalid, unknown } from "../api/check.js";
import type { Act, AuditEvent, Subject } from "../audit/act.js";
import { eventOf, markWritten } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type { Caller } from "../keys/caller.js";
import { roleMissing } from "../keys/scope-missing.js";
import type { Role } from "../keys/roles.js";
import { mayGive } from "../store/link-givers.js";
import { INVITATIONS_MAX, type MemberChange, type MemberParams, MEMBERS_MAX } from "../store/member-scripts.js";
import type { InstallationRole, LinkRow, MemberRole, MemberRow, UserRow } from "../store/people-rows.js";
import type { PeopleStore } from "../store/people-store.js";
import { newLink, type ToldLink } from "./new-link.js";
import { makeId, type RandomBytes } from "./tokens.js";
import { emailOf, nameOf } from "./user-fields.js";

/** Tells every node what changed of a person. */
export interface TellsOfUsers {
  /** That sessions ended. Never rejects. */
  publishUser(userId: string): Promise<void>;
  /** That the person may do something else now, and the keys that the person made with it. Never rejects. */
  publishRights(userId: string): Promise<void>;
}

export interface MembersOptions {
  readonly store: PeopleStore;
  /** True where there is such an account. */
  readonly accountExists: (id: string) => Promise<boolean>;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly keys: TellsOfUsers;
}

/** What an invitation leads to. */
export interface InvitationParams {
  readonly accountId: string | null;
  readonly role: MemberRole | null;
  readonly installationRole: InstallationRole | null;
  readonly email: string;
  readonly ttlSeconds: number;
}

/** Somebody whom an operator makes. */
export interface UserParams {
  readonly email: string;
  readonly name: string;
  readonly installationRole: InstallationRole | null;
  /** Null: no account. */
  readonly accountId: string | null;
  readonly role: MemberRole;
}

const TTL_S = 7 * 24 * 3_600;
const TTL_S_MAX = 30 * 24 * 3_600;
const RESET_S = 24 * 3_600;
const OWNERS: ReadonlySet<Role> = new Set(["owner", "operator"]);

export class Members {
  constructor(private readonly options: MembersOptions) {}

  /** By the ids of the users, from behind one of them. Rejects with RESOURCE_UNKNOWN. */
  async list(accountId: string, afterId: string, count: number): Promise<readonly MemberRow[]> {
    await this.#requireAccount(accountId);
    return this.options.store.members(accountId, afterId, count);
  }

  /** Rejects with RESOURCE_UNKNOWN, ROLE_MISSING or LAST_OWNER. */
  async change(accountId: string, userId: string, role: MemberRole, caller: Caller, act: Act): Promise<void> {
    await this.#change({ accountId, userId, role, keepsKeys: true }, JSON.stringify({ role }), caller, act);
  }

  /**
   * Nobody may use the member's keys any more, unless they are kept; what their own rows say is the caller's to change.
   * Rejects with RESOURCE_UNKNOWN, ROLE_MISSING or LAST_OWNER.
   */
  async leave(accountId: string, userId: string, keepsKeys: boolean, caller: Caller, act: Act): Promise<void> {
    await this.#change({ accountId, userId, role: null, keepsKeys }, afterLeaving(keepsKeys), caller, act);
  }

  async #change(
    asked: Omit<MemberParams, "byOwner" | "nowMs">,
    after: string,
    caller: Caller,
    act: Act,
  ): Promise<void> {
    const { accountId, userId } = asked;
    const params = { ...asked, byOwner: isOwner(caller), nowMs: this.#nowMs() };
    const event = eventOf(act, { resource: `accounts/${accountId}/members/${userId}`, accountId, after });
    const change = await this.options.store.changeMember(params, event);
    requireDone(change, { kind: "account", id: accountId }, { kind: "member", id: userId }, caller);
    markWritten(act);
    await this.options.keys.publishRights(userId);
  }

  /** Rejects with RESOURCE_UNKNOWN where the person is no member. */
  async requireMember(accountId: string, userId: string): Promise<MemberRow> {
    await this.#requireAccount(accountId);
    const member = await this.options.store.member(accountId, userId);
    if (member === undefined) throw unknown("member", userId);
    return member;
  }

  /** Rejects with RESOURCE_UNKNOWN where the person is no member, ROLE_MISSING where only an owner may do it. */
  async requireMayChange(accountId: string, userId: string, caller: Caller): Promise<void> {
    const member = await this.requireMember(accountId, userId);
    if (member.role === "owner" && !isOwner(caller)) throw roleMissing(caller.user, "members");
  }

  /** Rejects with RESOURCE_UNKNOWN, ROLE_MISSING or PARAMETER_INVALID. */
  async invite(params: InvitationParams, caller: Caller, act: Act): Promise<ToldLink> {
    const { accountId, role, installationRole } = params;
    if (accountId !== null) await this.#requireAccount(accountId);
    if (!mayGive(roleOf(caller), { kind: "invitation", accountId, role })) throw roleMissing(caller.user, "members");
    if (!Number.isInteger(params.ttlSeconds) || params.ttlSeconds > TTL_S_MAX)
      throw invalid("ttl_seconds", `must be at most ${TTL_S_MAX}`);
    const email = params.email === "" ? null : emailOf(params.email);
    const leads = { accountId, role, installationRole, email };
    const made = this.#newLink("invitation", params.ttlSeconds || TTL_S, leads, caller);
    const after = JSON.stringify({ role, installation_role: installationRole });
    const resource = accountId === null ? "users:invite" : `accounts/${accountId}/invitations/${made.link.id}`;
    const event = eventOf(act, { resource, accountId: accountId ?? "", after });
    const room = await this.options.store.invite(made.link, event);
    if (room === "many_invitations")
      throw invalid(
        "account_id",
        `has ${INVITATIONS_MAX} open invitations, which is the most: revoke one of them first`,
      );
    if (room === "many_members")
      throw invalid("account_id", `has ${MEMBERS_MAX} members, which is the most: remove one of them first`);
    markWritten(act);
    return made;
  }

  async invitations(accountId: string, afterId: string, count: number): Promise<readonly LinkRow[]> {
    await this.#requireAccount(accountId);
    return this.options.store.invitations(accountId, this.#nowMs(), afterId, count);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async endInvitation(accountId: string, id: string, act: Act): Promise<void> {
    const event = eventOf(act, { resource: `accounts/${accountId}/invitations/${id}`, accountId });
    if (!(await this.options.store.endInvitation(accountId, id, event))) throw unknown("invitation", id);
    markWritten(act);
  }

  /** Whether the account asks its people for a second factor. Rejects with RESOURCE_UNKNOWN. */
  async secondFactorRequired(accountId: string): Promise<boolean> {
    await this.#requireAccount(accountId);
    return this.options.store.secondFactorRequired(accountId);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async requireSecondFactor(accountId: string, required: boolean, act: Act): Promise<void> {
    await this.#requireAccount(accountId);
    const after = JSON.stringify({ second_factor_required: required });
    const event = eventOf(act, { resource: `accounts/${accountId}/security`, accountId, after });
    await this.options.store.requireSecondFactor(accountId, required, event);
    markWritten(act);
  }

  users(afterId: string, count: number): Promise<readonly UserRow[]> {
    return this.options.store.users(afterId, count);
  }

  /**
   * With a link by which the person sets a password. Rejects with ALREADY_EXISTS, RESOURCE_UNKNOWN or
   * PARAMETER_INVALID.
   */
  async create(
    params: UserParams,
    caller: Caller,
    act: Act,
  ): Promise<{ readonly user: UserRow; readonly token: string }> {
    const email = emailOf(params.email);
    const { accountId, role, installationRole } = params;
    if (accountId !== null) await this.#requireAccount(accountId);
    const id = makeId("user", this.options.randomBytes);
    const named = { id, email, name: nameOf(params.name, email), password: null, installationRole };
    const user = { ...named, createTimeMs: this.#nowMs(), signInTimeMs: null, secondFactor: false };
    const { link, token } = this.#newLink("password", RESET_S, { userId: id }, caller);
    const told = { installation_role: installationRole, account_id: accountId, role: accountId === null ? null : role };
    const event = userEvent(act, id, { after: JSON.stringify(told) });
    if (!(await this.options.store.createUser({ user, link, accountId, role }, event)))
      throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "user", id: email });
    markWritten(act);
    return { user, token };
  }

  /** Signs a person out everywhere. Rejects with RESOURCE_UNKNOWN. */
  async endSessions(id: string, act: Act, accountId = ""): Promise<void> {
    await this.#user(id);
    await this.options.store.endSessions(id, userEvent(act, id, { accountId }));
    markWritten(act);
    await this.options.keys.publishUser(id);
  }

  /** Rejects with RESOURCE_UNKNOWN or LAST_OWNER. */
  async setInstallationRole(id: string, role: InstallationRole | null, caller: Caller, act: Act): Promise<UserRow> {
    const event = userEvent(act, id, { after: JSON.stringify({ installation_role: role }) });
    const change = await this.options.store.setInstallationRole(id, role, event);
    requireDone(change, { kind: "installation", id: "" }, { kind: "user", id }, caller);
    markWritten(act);
    await this.options.keys.publishRights(id);
    return this.#user(id);
  }

  /**
   * A link by which a person sets a new password; the sessions end now, issuers know the person no more, and all second
   * factors go where that is asked for.
   * Rejects with RESOURCE_UNKNOWN.
   */
  async reset(id: string, secondFactors: boolean, caller: Caller, act: Act): Promise<string> {
    const user = await this.#user(id);
    const { link, token } = this.#newLink("password", RESET_S, { userId: user.id }, caller);
    const dropped = userEvent(act, id, { after: JSON.stringify({ second_factor: "removed" }) });
    if (secondFactors) await this.options.store.dropSecondFactors(id, dropped);
    // First what lets the person in, so that no session begins behind the end of them all.
    await this.options.store.forgetOidcIdentities(id);
    await this.options.store.endSessions(id, userEvent(act, id));
    if (!(await this.options.store.makeLink(link))) throw unknown("user", id);
    markWritten(act);
    await this.options.keys.publishUser(id);
    return token;
  }

  /** Says in which accounts the person had keys that are over now. Rejects with RESOURCE_UNKNOWN or LAST_OWNER. */
  async remove(id: string, keepsKeys: boolean, caller: Caller, act: Act): Promise<readonly string[]> {
    const { store, keys } = this.options;
    const event = userEvent(act, id, { after: afterLeaving(keepsKeys) });
    // In which accounts is said by the transaction: a hidden key may be made until then.
    const { change, accountIds } = await store.removeUser(id, keepsKeys, this.#nowMs(), event);
    requireDone(change, { kind: "installation", id: "" }, { kind: "user", id }, caller);
    markWritten(act);
    await keys.publishRights(id);
    return accountIds;
  }

  #newLink(kind: LinkRow["kind"], ttlSeconds: number, leads: Partial<LinkRow>, giver: Caller): ToldLink {
    const { randomBytes } = this.options;
    const given = { ...leads, giverUserId: giver.user?.id ?? null, giverKeyId: giver.user ? null : giver.keyId };
    return newLink(kind, ttlSeconds * 1_000, given, { nowMs: this.#nowMs(), randomBytes });
  }

  async #user(id: string): Promise<UserRow> {
    const user = await this.options.store.user(id);
    if (user === undefined) throw unknown("user", id);
    return user;
  }

  async #requireAccount(id: string): Promise<void> {
    if (!(await this.options.accountExists(id))) throw unknown("account", id);
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

function afterLeaving(keepsKeys: boolean): string {
  return JSON.stringify({ keys: keepsKeys ? "kept" : "revoked" });
}

/** The record of what concerns one person. */
export function userEvent(act: Act, id: string, more: Partial<Subject> = {}): AuditEvent {
  return eventOf(act, { resource: `users/${id}`, accountId: "", ...more });
}

/** An operator's key is as good as an operator; no other key has anything to do with people. */
function roleOf(caller: Caller): Role {
  if (caller.user !== undefined) return caller.user.role;
  return caller.hasScope("operator") ? "operator" : "none";
}

function isOwner(caller: Caller): boolean {
  return OWNERS.has(roleOf(caller));
}

interface Named {
  readonly kind: string;
  readonly id: string;
}

function requireDone(change: MemberChange, whole: Named, part: Named, caller: Caller): void {
  switch (change) {
    case "done":
      return;
    case "unknown":
      throw unknown(part.kind, part.id);
    case "last_owner":
      throw new GatewayError("ERROR_REASON_LAST_OWNER", { kind: whole.kind, id: whole.id });
    case "forbidden":
      throw roleMissing(caller.user, "members");
  }
}
