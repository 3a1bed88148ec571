/** Who comes in by an issuer's word: as whom, what is asked beside it, and what is written. */
import { type Act, markWritten } from "../../audit/act.js";
import { GatewayError } from "../../base/errors.js";
import type { OidcEntry, OidcFacts, OidcResult, OidcWay } from "../../store/oidc-scripts.js";
import type { UserRow } from "../../store/people-rows.js";
import type { PeopleStore } from "../../store/people-store.js";
import { by, sessionEvent } from "../events.js";
import { type TellsOfUsers, userEvent } from "../members.js";
import { type Device, newSession, type SignedIn } from "../new-session.js";
import { type FactorRecord, type SecondFactors, type ShownFactor, SIGN_IN } from "../second-factors.js";
import { digestOf, makeId, type RandomBytes } from "../tokens.js";
import { notTaken } from "./issuer.js";
import type { Begun, BeginParams, CameBack, Oidc } from "./code-flow.js";
import { PENDING_MS } from "./pending.js";

export interface OidcSignInOptions {
  readonly oidc: Oidc;
  readonly store: PeopleStore;
  readonly keys: TellsOfUsers;
  readonly secondFactors: SecondFactors;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly accountExists: (id: string) => Promise<boolean>;
  /** Counts a try by its address. Rejects with RATE_LIMITED. */
  readonly takeAddress: (address: string) => Promise<void>;
  /** Rejects with SIGN_IN_REFUSED or RATE_LIMITED. */
  readonly checkPassword: (user: UserRow, password: string, address: string) => Promise<void>;
}

export interface FinishParams extends ShownFactor {
  readonly name: string;
  readonly query: string;
  /** The sealed sign-in of the browser's cookie; empty where it has none. */
  readonly sealed: string;
  readonly password: string;
}

/** More is needed of the person before the session begins. */
export interface Needed {
  readonly kind: "needed";
  readonly password: boolean;
  /** A second factor. */
  readonly code: boolean;
  /** How the browser is asked for a passkey, as JSON; empty where the person has none, or must show a password. */
  readonly passkeyOptions: string;
  readonly email: string;
  /** For the cookie, in the place of what was there. */
  readonly sealed: string;
}

export type Finished = Needed | ({ readonly kind: "signed in"; readonly email: string } & SignedIn);

/** As whom somebody comes in, and what the person has to show for it. */
interface Entrance {
  readonly way: OidcWay;
  readonly user: UserRow;
  readonly needsPassword: boolean;
}

export class OidcSignIn {
  constructor(private readonly options: OidcSignInOptions) {}

  get issuers(): Oidc["issuers"] {
    return this.options.oidc.issuers;
  }

  /** Rejects as `Oidc.begin` does, or with RATE_LIMITED. */
  async begin(params: BeginParams, address: string): Promise<Begun> {
    await this.options.takeAddress(address);
    return this.options.oidc.begin(params);
  }

  /** Rejects as `Oidc.comeBack` does, or with RATE_LIMITED, SIGN_IN_REFUSED or LINK_INVALID. */
  async finish(params: FinishParams, device: Device, act: Act): Promise<Finished> {
    const { oidc, store, checkPassword, secondFactors, takeAddress } = this.options;
    await takeAddress(device.address);
    const back = await oidc.comeBack(params.name, params.query, params.sealed);
    const { vouched } = back;
    const entrance = this.#entranceOf(back, await store.oidcFacts(vouched, vouched.email));
    const { user, needsPassword } = entrance;
    const lacks = {
      password: needsPassword && params.password === "",
      code: user.secondFactor && params.code === "" && params.passkey === "",
    };
    const needed = { kind: "needed", ...lacks, email: vouched.email } as const;
    if (lacks.password) return { ...needed, passkeyOptions: "", sealed: oidc.sealKnown(back) };
    if (needsPassword) await checkPassword(user, params.password, device.address);
    // Which passkeys there are is said behind the password alone.
    if (lacks.code) {
      const passkeyOptions = await secondFactors.passkeys.useOptions(user, SIGN_IN);
      return { ...needed, passkeyOptions, sealed: oidc.sealKnown(back) };
    }
    const factor = await secondFactors.check(user, params, SIGN_IN, by(act, user));
    return this.#enter(back, entrance, { device, act, factor });
  }

  /**
   * Who has the identity is that person, whatever the e-mail address is by now. An address alone makes nobody another
   * person: whoever has a password shows it once, and whoever is known by one identity gets no second one without it.
   */
  #entranceOf({ issuer, vouched }: CameBack, { bound, named, namedHasIdentity, namedHasOther }: OidcFacts): Entrance {
    if (bound !== undefined) return { way: "bound", user: bound, needsPassword: false };
    if (named === undefined) return { way: "new", user: this.#newUser(vouched), needsPassword: false };
    if (namedHasOther || (namedHasIdentity && named.password === null))
      throw notTaken(issuer, `${vouched.email} is known here as somebody else; ask your operator to reset that person`);
    return { way: "bind", user: named, needsPassword: named.password !== null };
  }

  #newUser({ email, name }: CameBack["vouched"]): UserRow {
    const nowMs = this.#nowMs();
    const id = makeId("user", this.options.randomBytes);
    const nothing = { password: null, installationRole: null, secondFactor: false };
    return { id, email, name, ...nothing, createTimeMs: nowMs, signInTimeMs: nowMs };
  }

  async #enter(
    back: CameBack,
    { way, user, needsPassword }: Entrance,
    { device, act, factor }: { readonly device: Device; readonly act: Act; readonly factor: FactorRecord },
  ): Promise<Finished> {
    const { store, keys, randomBytes } = this.options;
    const { issuer, pending, vouched } = back;
    const nowMs = this.#nowMs();
    // Whoever showed something of their own here is there; else the issuer must say when it last saw the person.
    const isShownHere = needsPassword || factor.second_factor !== "none";
    const proofTimeMs = isShownHere ? nowMs : Math.min(nowMs, vouched.authTimeMs);
    const { session, token } = newSession(user, device, { method: "oidc", proofTimeMs }, { nowMs, randomBytes });
    const entry: OidcEntry = {
      way,
      identity: { issuer: vouched.issuer, subject: vouched.subject },
      user,
      session,
      used: digestOf(pending.state),
      usedUntilMs: nowMs + 2 * PENDING_MS,
      invitation: pending.invitation === "" ? null : digestOf(pending.invitation),
      otherwise: await this.#otherwise(back),
    };
    const after = JSON.stringify({ issuer: issuer.name, ...factor });
    const own = by(act, user);
    const began = { ...sessionEvent(own, session.id), after };
    const became = userEvent(own, user.id, { after: JSON.stringify({ issuer: issuer.name, identity: way }) });
    const result = await store.oidcSignIn(entry, way === "bound" ? [began] : [became, began]);
    if (result !== "done") throw refusalOf(back, result);
    markWritten(act);
    if (pending.invitation !== "") await keys.publishRights(user.id);
    else if (way !== "bound") await keys.publishUser(user.id);
    return {
      kind: "signed in",
      email: vouched.email,
      user: { ...user, signInTimeMs: nowMs },
      session,
      token: token.text,
    };
  }

  /** Where somebody belongs whom nobody invited; null where nowhere. */
  async #otherwise({ issuer }: CameBack): Promise<OidcEntry["otherwise"]> {
    const { newPeople } = issuer;
    if (newPeople === undefined) return null;
    return (await this.options.accountExists(newPeople.accountId)) ? newPeople : null;
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

function refusalOf({ issuer, vouched }: CameBack, result: Exclude<OidcResult, "done">): GatewayError {
  switch (result) {
    case "used":
      return notTaken(issuer, "it was used already; begin it anew");
    case "changed":
      return notTaken(issuer, "the person was changed meanwhile; begin it anew");
    case "link_invalid":
      return new GatewayError("ERROR_REASON_LINK_INVALID");
    case "uninvited":
      return notTaken(
        issuer,
        `there is no invitation for ${vouched.email}; ask your operator or an admin of your account`,
      );
    case "full":
      return notTaken(issuer, "the account for new people is full; ask your operator");
  }
}
