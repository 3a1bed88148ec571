/** Passkeys of people: how one is added, renamed and removed, and what counts as its use. */
import { invalid, unknown } from "../../api/check.js";
import { type Act, type AuditEvent, markWritten } from "../../audit/act.js";
import { GatewayError } from "../../base/errors.js";
import { type PasskeyRow, PASSKEYS_MAX } from "../../store/passkey-scripts.js";
import type { UserRow } from "../../store/people-rows.js";
import type { PeopleStore } from "../../store/people-store.js";
import { type TellsOfUsers, userEvent } from "../members.js";
import { newRecoveryCodes, recoveryDigest } from "../recovery-codes.js";
import type { Seal } from "../second-factors.js";
import { makeId, type RandomBytes } from "../tokens.js";
import { passkeyNameOf } from "../user-fields.js";
import {
  assertionOptions,
  challengeIn,
  checkAssertion,
  checkCreation,
  creationOptions,
  idOf,
  type MadePasskey,
  readAssertion,
  readCreation,
} from "./ceremony.js";
import { makeChallenge, type Purpose, takeChallenge } from "./challenge.js";
import type { RelyingParty } from "./relying-party.js";

export interface PasskeysOptions {
  readonly store: PeopleStore;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly keys: TellsOfUsers;
  /** Of what browsers carry during a sign-in. */
  readonly signInSeal: Seal;
  /** Undefined where there are no passkeys: the address of the gateway has no host name. */
  readonly relyingParty: () => RelyingParty | undefined;
}

/** A passkey that was added. */
export interface AddedPasskey {
  readonly passkey: PasskeyRow;
  /** Empty where the person had a second factor before, and with it the codes. */
  readonly recoveryCodes: readonly string[];
}

/** For what a passkey is used. */
export type UsePurpose = Omit<Purpose, "userId"> & { readonly does: "sign in" | "prove" };

/** Why the answer of a passkey does not count: for the log, and no word to the person. */
export class PasskeyRefused extends Error {}

export class Passkeys {
  constructor(private readonly options: PasskeysOptions) {}

  /** The origin whose pages can use passkeys; empty where there are none. */
  get origin(): string {
    return this.options.relyingParty()?.origin ?? "";
  }

  /** What the browser is asked for, as JSON. Rejects with PASSKEYS_OFF or PARAMETER_INVALID. */
  async begin(user: UserRow, sessionId: string): Promise<string> {
    const party = this.#party();
    const present = await this.list(user);
    if (present.length >= PASSKEYS_MAX) throw tooMany();
    const challenge = this.#challenge({ does: "create", userId: user.id, sessionId });
    return creationOptions(party, user, present, challenge);
  }

  /** Rejects with PASSKEYS_OFF, PARAMETER_INVALID or ALREADY_EXISTS. */
  async add(user: UserRow, sessionId: string, named: string, credential: string, act: Act): Promise<AddedPasskey> {
    const { store, keys, randomBytes, signInSeal } = this.options;
    const party = this.#party();
    const name = passkeyNameOf(named);
    const nowMs = this.#nowMs();
    const { made, challenge } = await orInvalid(async () => {
      const answer = readCreation(credential);
      const purpose = { does: "create", userId: user.id, sessionId } as const;
      const taken = takeChallenge(signInSeal, challengeIn(answer), purpose, nowMs);
      return { made: await checkCreation(answer, party), challenge: taken };
    });
    const passkey = this.#row(user, name, made, nowMs);
    const codes = newRecoveryCodes(randomBytes);
    const event = passkeyEvent(act, passkey, "passkey added");
    const added = await store.addPasskey({ passkey, challenge, sessionId }, codes.map(recoveryDigest), event);
    switch (added) {
      case "first":
      case "added":
        markWritten(act);
        await keys.publishUser(user.id);
        return { passkey, recoveryCodes: added === "first" ? codes : [] };
      case "answered":
        throw notTaken(new Error("the challenge was answered before"));
      case "many":
        throw tooMany();
      case "taken":
        throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "passkey", id: name });
      case "gone":
        throw new GatewayError("ERROR_REASON_SESSION_ENDED");
    }
  }

  list({ id }: Pick<UserRow, "id">): Promise<readonly PasskeyRow[]> {
    return this.options.store.passkeys(id);
  }

  /** Rejects with RESOURCE_UNKNOWN or PARAMETER_INVALID. */
  async rename(user: UserRow, id: string, named: string, act: Act): Promise<PasskeyRow> {
    const name = passkeyNameOf(named);
    const found = (await this.list(user)).find((one) => one.id === id);
    if (found === undefined) throw unknown("passkey", id);
    if (!(await this.options.store.renamePasskey(user.id, id, name, passkeyEvent(act, found, "passkey renamed"))))
      throw unknown("passkey", id);
    markWritten(act);
    return { ...found, name };
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async drop(user: UserRow, id: string, act: Act): Promise<void> {
    const event = passkeyEvent(act, { userId: user.id, id }, "passkey removed");
    if (!(await this.options.store.dropPasskey(user.id, id, event))) throw unknown("passkey", id);
    markWritten(act);
    await this.options.keys.publishUser(user.id);
  }

  /** How the browser is asked to use one of the person's, as JSON; empty where the person has none here. */
  async useOptions(user: UserRow, purpose: UsePurpose): Promise<string> {
    const party = this.options.relyingParty();
    if (party === undefined || !user.secondFactor) return "";
    const usable = (await this.list(user)).filter(({ rpId }) => rpId === party.id);
    if (usable.length === 0) return "";
    return assertionOptions(party, usable, this.#challenge({ ...purpose, userId: user.id }));
  }

  /** The id of the passkey that was used. Rejects with PASSKEYS_OFF, or a PasskeyRefused that says why. */
  async use(user: UserRow, text: string, purpose: UsePurpose, act: Act): Promise<string> {
    const party = this.#party();
    const present = await this.list(user);
    const wanted = { ...purpose, userId: user.id };
    const { passkey, counter, challenge } = await orRefused(async () => {
      const answer = readAssertion(text);
      const taken = takeChallenge(this.options.signInSeal, challengeIn(answer), wanted, this.#nowMs());
      const found = present.find((one) => idOf(one) === answer.id);
      if (found === undefined) throw new Error("the person has no such passkey");
      return { passkey: found, counter: await checkAssertion(answer, found, party), challenge: taken };
    });
    const told = { result: "refused", reason: "SIGN_IN_REFUSED" } as const;
    const wentBack = { ...passkeyEvent(act, passkey, "the counter of the passkey went back"), ...told };
    const use = { userId: user.id, id: passkey.id, counter, challenge };
    const used = await this.options.store.usePasskey(use, wentBack);
    if (used !== "done") throw new PasskeyRefused(USELESS[used]);
    return passkey.id;
  }

  #row({ id: userId }: UserRow, name: string, made: MadePasskey, nowMs: number): PasskeyRow {
    const id = makeId("passkey", this.options.randomBytes);
    return { ...made, id, userId, name, createTimeMs: nowMs, useTimeMs: null };
  }

  #challenge(purpose: Purpose): Uint8Array<ArrayBuffer> {
    return makeChallenge(this.options.signInSeal, purpose, this.#nowMs());
  }

  #party(): RelyingParty {
    const party = this.options.relyingParty();
    if (party === undefined) throw new GatewayError("ERROR_REASON_PASSKEYS_OFF");
    return party;
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

const USELESS = {
  answered: "the challenge was answered before",
  counter: "the counter went back: another device may have a copy of the passkey",
  gone: "the passkey was removed",
} as const;

/** What the person calls it is not written: the record stays for good. */
function passkeyEvent(act: Act, { userId, id }: Pick<PasskeyRow, "userId" | "id">, change: string): AuditEvent {
  return userEvent(act, userId, { after: JSON.stringify({ second_factor: change, passkey: id }) });
}

async function orRefused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new PasskeyRefused("the answer does not count", { cause });
  }
}

async function orInvalid<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw notTaken(error);
  }
}

function notTaken(cause: unknown): GatewayError {
  const problem = "is not the answer of an authenticator to a challenge of the last five minutes; begin again";
  return new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "credential", problem }, { cause });
}

function tooMany(): GatewayError {
  return invalid("passkey", `is one too many: a person has at most ${PASSKEYS_MAX}; remove one of them first`);
}
