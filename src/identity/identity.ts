/** People: how the first one comes in, how they sign in and out, and who a session is. */
import type { IssuerSettings } from "../config/settings.js";
import { unknown } from "../api/check.js";
import { type Act, eventOf, markWritten } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type { Coordination } from "../coordination/coordination.js";
import { addressBlock, type LinkRow, type OpenSession, type SessionRow, type UserRow } from "../store/people-rows.js";
import type { PeopleStore } from "../store/people-store.js";
import { countedAs, Guesses } from "./guesses.js";
import { type Hashing, Passwords } from "./passwords.js";
import { Members, type TellsOfUsers, userEvent } from "./members.js";
import { by, sessionEvent } from "./events.js";
import { newLink } from "./new-link.js";
import { type Device, newSession, type NewSession, type SignedIn } from "./new-session.js";
import { OidcClients } from "./oidc/clients.js";
import { Oidc } from "./oidc/code-flow.js";
import { OidcSignIn } from "./oidc/sign-in.js";
import { digestOf, makeId, type RandomBytes } from "./tokens.js";
import { emailOf, nameOf } from "./user-fields.js";
import { PROOF_MS, type SecondFactorFor, type UserCaller, userCaller } from "./user-caller.js";
import type { RelyingParty } from "./passkeys/relying-party.js";
import { type Seal, SecondFactors, type ShownFactor, SIGN_IN } from "./second-factors.js";

export interface IdentityOptions {
  readonly store: PeopleStore;
  readonly coordination: Pick<Coordination, "admit">;
  readonly nowMs: () => number;
  /** How far the machine's clock is ahead of that time. Default: 0. */
  readonly skewMs?: (() => number) | undefined;
  readonly randomBytes: RandomBytes;
  /** True where there is such an account. */
  readonly accountExists: (id: string) => Promise<boolean>;
  readonly keys: TellsOfUsers;
  readonly seal: Seal;
  /** Of sign-ins that browsers carry. */
  readonly signInSeal: Seal;
  /** As whom the gateway asks authenticators for passkeys; undefined where it asks none. */
  readonly relyingParty: () => RelyingParty | undefined;
  /** The OpenID Connect issuers of the settings in force. */
  readonly issuers: () => readonly IssuerSettings[];
  /** Hears why an issuer failed, for the operator. */
  readonly onIssuerFailed: (issuer: Pick<IssuerSettings, "name">, error: Error) => void;
  /** Whom the installation asks for a second factor; accounts may ask their own people. */
  readonly secondFactorFor: SecondFactorFor;
  /** Absent: argon2id. */
  readonly hashing?: (() => Promise<Hashing>) | undefined;
}

/** What somebody signs in with. */
export interface Credentials extends ShownFactor {
  readonly email: string;
  readonly password: string;
}

const LINK_MS = 3_600_000;
/** The use of a session is noted to the minute: reading a page writes nothing. */
const USE_NOTED_MS = 60_000;
const TOKEN_LENGTH_MAX = 128;

export class Identity {
  readonly #options: IdentityOptions;
  readonly #passwords: Passwords;
  readonly #guesses: Guesses;
  readonly members: Members;
  readonly secondFactors: SecondFactors;
  readonly oidc: OidcSignIn;

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#passwords = new Passwords(options.hashing);
    this.members = new Members(options);
    this.#guesses = new Guesses(options.coordination, options.nowMs);
    this.secondFactors = new SecondFactors(options, this.#guesses);
    this.oidc = this.#oidcSignIn(options);
  }

  #oidcSignIn(options: IdentityOptions): OidcSignIn {
    const { nowMs, randomBytes, issuers, signInSeal: seal } = options;
    const clients = new OidcClients(nowMs, options.onIssuerFailed, options.skewMs);
    return new OidcSignIn({
      ...options,
      oidc: new Oidc({ issuers, clients, seal, nowMs, randomBytes, freshMs: PROOF_MS }),
      secondFactors: this.secondFactors,
      takeAddress: (address) => this.#guesses.takeAddress(address),
      checkPassword: async ({ id, email }, password, address) => {
        const { user, counted } = await this.#passwordHolder(email, password, address);
        if (user?.id !== id) throw this.#failed(counted);
        this.#guesses.succeeded(counted);
      },
    });
  }

  /** The token of a link that makes the first operator; undefined where there is one. */
  async firstOperatorLink(): Promise<string | undefined> {
    const { store, randomBytes } = this.#options;
    if (await store.operatorExists()) return undefined;
    const { link, token } = newLink("first_operator", LINK_MS, {}, { nowMs: this.#nowMs(), randomBytes });
    await store.makeLink(link);
    return token;
  }

  operatorExists(): Promise<boolean> {
    return this.#options.store.operatorExists();
  }

  /** Rejects with LINK_INVALID, PARAMETER_INVALID, ALREADY_EXISTS or RATE_LIMITED. */
  async makeFirstOperator(
    token: string,
    params: { readonly email: string; readonly name: string; readonly password: string },
    device: Device,
    act: Act,
  ): Promise<SignedIn> {
    const email = emailOf(params.email);
    this.#passwords.require(params.password, email);
    await this.#guesses.takeAddress(device.address);
    const { store } = this.#options;
    const name = nameOf(params.name, email);
    const made = await this.#newUser(email, name, params.password);
    const { id } = made;
    const user: UserRow = { ...made, installationRole: "operator" };
    const { session, token: secret } = this.#newSession(user, device);
    const event = userEvent(by(act, user), id, { after: JSON.stringify({ installation_role: "operator" }) });
    const use = await store.makeFirstOperator(digestOf(bounded(token)), user, session, event);
    if (use === "invalid") throw new GatewayError("ERROR_REASON_LINK_INVALID");
    if (use === "email_taken") throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "user", id: email });
    markWritten(act);
    return { user, session, token: secret.text };
  }

  /**
   * Rejects with SIGN_IN_REFUSED or RATE_LIMITED, neither of which tells whether the address is anybody's, or with
   * SECOND_FACTOR_MISSING.
   */
  async signIn(shown: Credentials, device: Device, act: Act): Promise<SignedIn> {
    const { user, counted } = await this.#passwordHolder(shown.email, shown.password, device.address);
    if (user === undefined) throw this.#failed(counted);
    const factor = await this.secondFactors.check(user, shown, SIGN_IN, by(act, user));
    const { session, token } = this.#newSession(user, device);
    const event = { ...sessionEvent(by(act, user), session.id), after: JSON.stringify(factor) };
    if (!(await this.#options.store.startSession(session, user, event)))
      throw new GatewayError("ERROR_REASON_SIGN_IN_REFUSED");
    markWritten(act);
    this.#guesses.succeeded(counted);
    return { user: { ...user, signInTimeMs: session.createTimeMs }, session, token: token.text };
  }

  /**
   * How the browser is asked for a passkey, as JSON; empty where the person has none here. Rejects with SIGN_IN_REFUSED
   * or RATE_LIMITED as `signIn` does.
   */
  async beginPasskeySignIn(email: string, password: string, address: string): Promise<string> {
    const { user, counted } = await this.#passwordHolder(email, password, address);
    if (user === undefined) throw this.#failed(counted);
    return this.secondFactors.passkeys.useOptions(user, SIGN_IN);
  }

  /** As `beginPasskeySignIn` returns. */
  beginPasskeyProof({ user, session }: OpenSession): Promise<string> {
    return this.secondFactors.passkeys.useOptions(user, { does: "prove", sessionId: session.id });
  }

  /** Who has the address and the password, after the same work whoever it is. Rejects with RATE_LIMITED. */
  async #passwordHolder(
    email: string,
    password: string,
    address: string,
  ): Promise<{ readonly user: UserRow | undefined; readonly isKnown: boolean; readonly counted: string }> {
    const name = email
      .trim()
      .toLowerCase()
      .slice(0, TOKEN_LENGTH_MAX * 2);
    await this.#guesses.takeAddress(address);
    const { user, isKnownAddress } = await this.#options.store.signInFacts(name, addressBlock(address));
    const counted = countedAs(name, address, isKnownAddress);
    await this.#guesses.takeName(counted);
    const fits = await this.#passwords.verify(user?.password, password);
    return { user: fits ? user : undefined, isKnown: user !== undefined, counted };
  }

  #failed(counted: string): GatewayError {
    this.#guesses.failed(counted);
    return new GatewayError("ERROR_REASON_SIGN_IN_REFUSED");
  }

  /**
   * Until when the session may do what asks for a proof. Rejects with SIGN_IN_REFUSED, SECOND_FACTOR_MISSING or
   * RATE_LIMITED.
   */
  async prove({ user, session }: OpenSession, password: string, shown: ShownFactor, act: Act): Promise<number> {
    await this.#checkPassword(user, password);
    const factor = await this.secondFactors.check(user, shown, { does: "prove", sessionId: session.id }, act);
    const nowMs = this.#nowMs();
    const event = { ...sessionEvent(act, session.id), after: JSON.stringify(factor) };
    if (!(await this.#options.store.proveSession(session.id, nowMs, event)))
      throw new GatewayError("ERROR_REASON_SESSION_ENDED");
    markWritten(act);
    return nowMs + PROOF_MS;
  }

  /** Of somebody who is signed in, whom no stranger's tries keep waiting. */
  async #checkPassword(user: UserRow, password: string): Promise<void> {
    const counted = `session of ${user.id}`;
    await this.#guesses.takeName(counted);
    if (!(await this.#passwords.verify(user.password, password))) throw this.#failed(counted);
    this.#guesses.succeeded(counted);
  }

  /** The id of the hidden key of a person in an account: the one that is there, else this one, which may be empty. */
  playgroundKey(userId: string, accountId: string, keyId: string): Promise<string> {
    return this.#options.store.playgroundKey(userId, accountId, keyId);
  }

  signOut({ open }: UserCaller, act: Act): Promise<void> {
    return this.endSession(open.user.id, open.session.id, act);
  }

  sessions(userId: string): Promise<readonly SessionRow[]> {
    return this.#options.store.sessions(userId);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async endSession(userId: string, id: string, act: Act): Promise<void> {
    if (!(await this.#options.store.endSession(userId, id, sessionEvent(act, id)))) throw unknown("session", id);
    markWritten(act);
    await this.#options.keys.publishUser(userId);
  }

  async endSessions(userId: string, act: Act): Promise<void> {
    await this.#options.store.endSessions(userId, userEvent(act, userId));
    markWritten(act);
    await this.#options.keys.publishUser(userId);
  }

  /** Rejects with SIGN_IN_REFUSED, PARAMETER_INVALID or RATE_LIMITED. */
  async changePassword({ user }: OpenSession, present: string, wanted: string, act: Act): Promise<void> {
    this.#passwords.require(wanted, user.email, "new_password");
    await this.#checkPassword(user, present);
    const password = await this.#passwords.hash(wanted);
    const done = await this.#options.store.setPassword(
      user.id,
      password,
      { password: user.password },
      userEvent(act, user.id),
    );
    if (!done) throw new GatewayError("ERROR_REASON_SIGN_IN_REFUSED");
    markWritten(act);
    await this.#options.keys.publishUser(user.id);
  }

  /** Without a name the person is called by the e-mail address. Rejects with PARAMETER_INVALID or SESSION_ENDED. */
  async changeName({ user }: OpenSession, wanted: string, act: Act): Promise<UserRow> {
    const name = nameOf(wanted, user.email);
    // What the name is and was stays out of the record, which is for good.
    const event = userEvent(act, user.id, { after: JSON.stringify({ name: "changed" }) });
    if (!(await this.#options.store.nameUser(user.id, name, event)))
      throw new GatewayError("ERROR_REASON_SESSION_ENDED");
    markWritten(act);
    return { ...user, name };
  }

  /** Rejects with LINK_INVALID, PARAMETER_INVALID or RATE_LIMITED. */
  async setPassword(token: string, wanted: string, address: string, act: Act): Promise<void> {
    const { store } = this.#options;
    await this.#guesses.takeAddress(address);
    const link = await this.#liveLink(token, "password");
    const user = link.userId === null ? undefined : await store.user(link.userId);
    if (user === undefined) throw new GatewayError("ERROR_REASON_LINK_INVALID");
    this.#passwords.require(wanted, user.email);
    const password = await this.#passwords.hash(wanted);
    const shown = { link, nowMs: this.#nowMs() };
    const done = await store.setPassword(user.id, password, shown, userEvent(by(act, user), user.id));
    if (!done) throw new GatewayError("ERROR_REASON_LINK_INVALID");
    markWritten(act);
    await this.#options.keys.publishUser(user.id);
  }

  /** Rejects with LINK_INVALID, SIGN_IN_REFUSED, SECOND_FACTOR_MISSING, PARAMETER_INVALID or RATE_LIMITED. */
  async acceptInvitation(
    token: string,
    params: Credentials & { readonly name: string },
    device: Device,
    act: Act,
  ): Promise<SignedIn> {
    const { store } = this.#options;
    const email = emailOf(params.email);
    await this.#guesses.takeAddress(device.address);
    const link = await this.#liveLink(token, "invitation");
    // Whoever holds a link made for one person is not let in as another.
    if (link.email !== null && link.email !== email) throw new GatewayError("ERROR_REASON_LINK_INVALID");
    // What is said of the form must not tell whether the address is known.
    const name = nameOf(params.name, email);
    this.#passwords.require(params.password, email);
    const { user: known, isKnown, counted } = await this.#passwordHolder(email, params.password, device.address);
    if (isKnown && known === undefined) throw this.#failed(counted);
    const factor = known && (await this.secondFactors.check(known, params, SIGN_IN, by(act, known)));
    const user = known ?? (await this.#newUser(email, name, params.password));
    const { session, token: secret } = this.#newSession(user, device);
    const accountId = link.accountId ?? "";
    const resource = accountId === "" ? `users/${user.id}` : `accounts/${accountId}/members/${user.id}`;
    const after = JSON.stringify({ role: link.role, installation_role: link.installationRole, ...factor });
    const event = eventOf(by(act, user), { resource, accountId, after });
    const isNew = known === undefined;
    if (!(await store.acceptInvitation({ link, user, session, isNew }, event)))
      throw new GatewayError("ERROR_REASON_LINK_INVALID");
    markWritten(act);
    if (!isNew) await this.#options.keys.publishRights(user.id);
    return { user, session, token: secret.text };
  }

  async #liveLink(token: string, kind: LinkRow["kind"]): Promise<LinkRow> {
    const link = await this.#options.store.liveLink(digestOf(bounded(token)), kind, this.#nowMs());
    if (link === undefined) throw new GatewayError("ERROR_REASON_LINK_INVALID");
    return link;
  }

  async #newUser(email: string, name: string, wanted: string): Promise<UserRow> {
    const password = await this.#passwords.hash(wanted);
    const nowMs = this.#nowMs();
    const times = { createTimeMs: nowMs, signInTimeMs: nowMs };
    const id = makeId("user", this.#options.randomBytes);
    return { id, email, name, password, installationRole: null, secondFactor: false, ...times };
  }

  /** Who a session's token stands for, within an account. Rejects with SESSION_ENDED or RESOURCE_UNKNOWN. */
  async authenticate(token: string, accountId: string): Promise<UserCaller> {
    const nowMs = this.#nowMs();
    const open = await this.#options.store.openSession(digestOf(bounded(token)), nowMs);
    if (open === undefined) throw new GatewayError("ERROR_REASON_SESSION_ENDED");
    await this.#noteUse(open, nowMs);
    return userCaller(open, accountId, { nowMs, secondFactorFor: this.#options.secondFactorFor });
  }

  async #noteUse({ session }: OpenSession, nowMs: number): Promise<void> {
    if (nowMs - session.useTimeMs >= USE_NOTED_MS) await this.#options.store.useSession(session.id, nowMs);
  }

  #newSession(user: UserRow, device: Device): NewSession {
    const nowMs = this.#nowMs();
    const { randomBytes } = this.#options;
    return newSession(user, device, { method: "password", proofTimeMs: nowMs }, { nowMs, randomBytes });
  }

  /** What is stored are whole milliseconds. */
  #nowMs(): number {
    return Math.floor(this.#options.nowMs());
  }
}

/** No token of ours is longer, so that nobody has a long text hashed. */
function bounded(token: string): string {
  return token.slice(0, TOKEN_LENGTH_MAX);
}
