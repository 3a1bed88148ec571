/** People: how the first one comes in, how they sign in and out, and who a session is. */
import { GatewayError } from "../errors.js";
import type { Coordination } from "../coordination/coordination.js";
import type { OpenSession, SessionRow, UserRow } from "../store/people-rows.js";
import type { PeopleStore } from "../store/people-store.js";
import { Guesses } from "./guesses.js";
import { Passwords } from "./passwords.js";
import { digestOf, makeId, makeToken, type RandomBytes, type Token } from "./tokens.js";
import { emailOf, nameOf } from "./user-fields.js";
import { type UserCaller, userCaller } from "./user-caller.js";

export interface IdentityOptions {
  readonly store: PeopleStore;
  readonly coordination: Pick<Coordination, "admit">;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
}

/** Where somebody signs in from. */
export interface Device {
  /** An IP literal; empty where nobody knows. */
  readonly address: string;
  readonly userAgent: string;
}

/** A session that began, with the secret that is told this once. */
export interface SignedIn {
  readonly user: UserRow;
  readonly session: SessionRow;
  readonly token: string;
}

const LINK_MS = 3_600_000;
/** The use of a session is noted to the minute: reading a page writes nothing. */
const USE_NOTED_MS = 60_000;
const USER_AGENT_LENGTH_MAX = 256;
const TOKEN_LENGTH_MAX = 128;
/** By which tries with links of one address are counted, whatever they name. */
const LINKS = "link";

export class Identity {
  readonly #options: IdentityOptions;
  readonly #passwords = new Passwords();
  readonly #guesses: Guesses;

  constructor(options: IdentityOptions) {
    this.#options = options;
    this.#guesses = new Guesses(options.coordination, options.nowMs);
  }

  /** The token of a link that makes the first operator; undefined where there is one. */
  async firstOperatorLink(): Promise<string | undefined> {
    const { store, randomBytes } = this.#options;
    if (await store.operatorExists()) return undefined;
    const { text, digest } = makeToken(randomBytes);
    const createTimeMs = this.#nowMs();
    const times = { createTimeMs, expireTimeMs: createTimeMs + LINK_MS };
    await store.makeLink({ id: makeId("link", randomBytes), digest, kind: "first_operator", ...times });
    return text;
  }

  operatorExists(): Promise<boolean> {
    return this.#options.store.operatorExists();
  }

  /** Rejects with LINK_INVALID, PARAMETER_INVALID, ALREADY_EXISTS or RATE_LIMITED. */
  async makeFirstOperator(
    token: string,
    wish: { readonly email: string; readonly name: string; readonly password: string },
    device: Device,
  ): Promise<SignedIn> {
    const email = emailOf(wish.email);
    const name = nameOf(wish.name, email);
    this.#passwords.require(wish.password, email);
    await this.#guesses.take(`${LINKS}:${device.address}`, device.address);
    const { store, randomBytes } = this.#options;
    const password = await this.#passwords.hash(wish.password);
    const nowMs = this.#nowMs();
    const times = { createTimeMs: nowMs, signInTimeMs: nowMs };
    const id = makeId("user", randomBytes);
    const user: UserRow = { id, email, name, password, installationRole: "operator", ...times };
    const { session, token: secret } = this.#newSession(user, device);
    const use = await store.makeFirstOperator(digestOf(bounded(token)), user, session);
    if (use === "invalid") throw new GatewayError("ERROR_REASON_LINK_INVALID");
    if (use === "email_taken") throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "user", id: email });
    return { user, session, token: secret.text };
  }

  /** Rejects with SIGN_IN_REFUSED or RATE_LIMITED; neither tells whether the address is anybody's. */
  async signIn(email: string, password: string, device: Device): Promise<SignedIn> {
    const { store } = this.#options;
    const name = email
      .trim()
      .toLowerCase()
      .slice(0, TOKEN_LENGTH_MAX * 2);
    await this.#guesses.take(name, device.address);
    const user = await store.userByEmail(name);
    const fits = await this.#passwords.verify(user?.password, password);
    if (user === undefined || !fits) {
      this.#guesses.failed(name);
      throw new GatewayError("ERROR_REASON_SIGN_IN_REFUSED");
    }
    const { session, token } = this.#newSession(user, device);
    if (!(await store.startSession(session, user.password))) throw new GatewayError("ERROR_REASON_SIGN_IN_REFUSED");
    this.#guesses.succeeded(name);
    return { user: { ...user, signInTimeMs: session.createTimeMs }, session, token: token.text };
  }

  async signOut({ open }: UserCaller): Promise<void> {
    await this.#options.store.endSession(open.user.id, open.session.id);
  }

  /** Who a session's token stands for, within an account. Rejects with SESSION_ENDED or RESOURCE_UNKNOWN. */
  async authenticate(token: string, accountId: string): Promise<UserCaller> {
    const nowMs = this.#nowMs();
    const open = await this.#options.store.openSession(digestOf(bounded(token)), nowMs);
    if (open === undefined) throw new GatewayError("ERROR_REASON_SESSION_ENDED");
    await this.#noteUse(open, nowMs);
    return userCaller(open, accountId);
  }

  async #noteUse({ session }: OpenSession, nowMs: number): Promise<void> {
    if (nowMs - session.useTimeMs >= USE_NOTED_MS) await this.#options.store.useSession(session.id, nowMs);
  }

  #newSession(user: UserRow, device: Device): { readonly session: SessionRow; readonly token: Token } {
    const { randomBytes } = this.#options;
    const token = makeToken(randomBytes);
    const nowMs = this.#nowMs();
    const session = {
      id: makeId("session", randomBytes),
      digest: token.digest,
      userId: user.id,
      createTimeMs: nowMs,
      useTimeMs: nowMs,
      address: device.address,
      userAgent: device.userAgent.slice(0, USER_AGENT_LENGTH_MAX),
    };
    return { session, token };
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
