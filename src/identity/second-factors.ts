/** Second factors: authenticator apps and passkeys, what counts as one of them, and what helps where they are lost. */
import { unknown } from "../api/check.js";
import { type Act, type AuditEvent, markWritten } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type { UserRow } from "../store/people-rows.js";
import type { PeopleStore } from "../store/people-store.js";
import type { Guesses } from "./guesses.js";
import { userEvent } from "./members.js";
import { PasskeyRefused, Passkeys, type PasskeysOptions, type UsePurpose } from "./passkeys/passkeys.js";
import { newRecoveryCodes, recoveryDigest } from "./recovery-codes.js";
import { base32, otpauthUri, stepOf } from "./totp.js";

/** Encrypts what must be read again; each text for its owner. */
export interface Seal {
  seal(ownerId: string, text: string): Uint8Array;
  /** Undefined where it cannot be read. */
  open(ownerId: string, bytes: Uint8Array): string | undefined;
  /** Sealed with the key in force; undefined where it needs no key that will be gone. */
  sealAnew(ownerId: string, bytes: Uint8Array): Uint8Array | undefined;
}

export interface SecondFactorsOptions extends PasskeysOptions {
  readonly store: PeopleStore;
  readonly seal: Seal;
}

/** What a person shows as a second factor. Both empty: nothing yet. */
export interface ShownFactor {
  /** Six digits of the authenticator app, or a recovery code. */
  readonly code: string;
  /** The answer of a passkey, as the JSON that the browser makes of it. */
  readonly passkey: string;
}

/** How a person showed a second factor, as a record has it; none where the person has none. */
export interface FactorRecord {
  readonly second_factor: "none" | "code" | "recovery code" | "passkey";
  /** The id of the passkey. */
  readonly passkey?: string;
}

/** What the session of a person says of its second factors. */
export interface FactorState {
  readonly hasApp: boolean;
  readonly recoveryCodesLeft: number;
}

export const SIGN_IN: UsePurpose = { does: "sign in", sessionId: "" };

const ISSUER = "Tollgate";
/** As long as the hash, as RFC 4226 asks. */
const SECRET_BYTES = 20;
const TEXT_MAX = 64;
const SEALED_ANEW_AT_ONCE = 500;

export class SecondFactors {
  readonly passkeys: Passkeys;

  constructor(
    private readonly options: SecondFactorsOptions,
    private readonly guesses: Guesses,
  ) {
    this.passkeys = new Passkeys(options);
  }

  /** Rejects with ALREADY_EXISTS. */
  async enrol(user: UserRow, act: Act): Promise<{ readonly secret: string; readonly uri: string }> {
    const bytes = Buffer.from(this.options.randomBytes(SECRET_BYTES));
    const sealed = this.options.seal.seal(ownerOf(user), bytes.toString("base64"));
    const factor = { userId: user.id, sealed, lastStep: 0, createTimeMs: this.#nowMs() };
    if (!(await this.options.store.enrolSecondFactor(factor, factorEvent(act, user.id, "made"))))
      throw new GatewayError("ERROR_REASON_ALREADY_EXISTS", { kind: "second factor", id: user.email });
    markWritten(act);
    const secret = base32(bytes);
    return { secret, uri: otpauthUri(ISSUER, user.email, secret) };
  }

  /**
   * The recovery codes; none where the person had a second factor before. Rejects with RESOURCE_UNKNOWN,
   * SIGN_IN_REFUSED or RATE_LIMITED.
   */
  async confirm(user: UserRow, sessionId: string, code: string, act: Act): Promise<readonly string[]> {
    const { store, keys } = this.options;
    await this.guesses.takeName(nameOf(user));
    const factor = await store.secondFactor(user.id);
    if (factor === undefined || factor.confirmTimeMs !== null) throw unknown("second factor", user.email);
    const nowMs = this.#nowMs();
    const step = stepOf(this.#secret(user, factor.sealed), code.slice(0, TEXT_MAX), nowMs);
    if (step === undefined) throw this.#failed(user);
    const codes = newRecoveryCodes(this.options.randomBytes);
    const confirmed = { userId: user.id, step, sessionId, nowMs };
    const event = factorEvent(act, user.id, "confirmed");
    const added = await store.confirmSecondFactor(confirmed, codes.map(recoveryDigest), event);
    if (added === undefined) throw this.#failed(user);
    markWritten(act);
    await keys.publishUser(user.id);
    return added === "first" ? codes : [];
  }

  /**
   * Takes a code or the answer of a passkey, each of which is good once. Rejects with SECOND_FACTOR_MISSING,
   * SIGN_IN_REFUSED or RATE_LIMITED.
   */
  async check(user: UserRow, { code, passkey }: ShownFactor, purpose: UsePurpose, act: Act): Promise<FactorRecord> {
    if (!user.secondFactor) return { second_factor: "none" };
    if (code === "" && passkey === "") throw new GatewayError("ERROR_REASON_SECOND_FACTOR_MISSING");
    await this.guesses.takeName(nameOf(user));
    const shown = await (passkey === ""
      ? this.#takeCode(user, code.slice(0, TEXT_MAX))
      : this.#takePasskey(user, passkey, purpose, act));
    this.guesses.succeeded(nameOf(user));
    return shown;
  }

  async #takeCode(user: UserRow, code: string): Promise<FactorRecord> {
    const { store } = this.options;
    const factor = await store.secondFactor(user.id);
    const hasApp = factor !== undefined && factor.confirmTimeMs !== null;
    const step = hasApp ? stepOf(this.#secret(user, factor.sealed), code, this.#nowMs()) : undefined;
    if (step !== undefined && (await store.useStep(user.id, step))) return { second_factor: "code" };
    // There are none where every second factor was taken away since the password was compared.
    if (step === undefined && (await store.useRecoveryCode(user.id, recoveryDigest(code))))
      return { second_factor: "recovery code" };
    throw this.#failed(user);
  }

  async #takePasskey(user: UserRow, answer: string, purpose: UsePurpose, act: Act): Promise<FactorRecord> {
    try {
      return { second_factor: "passkey", passkey: await this.passkeys.use(user, answer, purpose, act) };
    } catch (error) {
      throw error instanceof PasskeyRefused ? this.#failed(user, error) : error;
    }
  }

  async state(user: UserRow): Promise<FactorState> {
    if (!user.secondFactor) return { hasApp: false, recoveryCodesLeft: 0 };
    const { store } = this.options;
    const factor = await store.secondFactor(user.id);
    const hasApp = factor !== undefined && factor.confirmTimeMs !== null;
    return { hasApp, recoveryCodesLeft: await store.recoveryCodesLeft(user.id) };
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async newRecoveryCodes(user: UserRow, act: Act): Promise<readonly string[]> {
    const codes = newRecoveryCodes(this.options.randomBytes);
    const event = factorEvent(act, user.id, "recovery codes replaced");
    if (!(await this.options.store.replaceRecoveryCodes(user.id, codes.map(recoveryDigest), event)))
      throw unknown("second factor", user.email);
    markWritten(act);
    return codes;
  }

  /** Takes away the authenticator app. Rejects with RESOURCE_UNKNOWN. */
  async drop(user: UserRow, act: Act): Promise<void> {
    if (!(await this.options.store.dropSecondFactor(user.id, factorEvent(act, user.id, "removed"))))
      throw unknown("second factor", user.email);
    markWritten(act);
    await this.options.keys.publishUser(user.id);
  }

  /** Seals anew what only the root secret before opens, while both are there. Returns how many it was. */
  async sealAnew(): Promise<number> {
    const { store, seal } = this.options;
    let count = 0;
    for (let afterId = ""; ;) {
      const factors = await store.sealedFactors(afterId, SEALED_ANEW_AT_ONCE);
      for (const { userId, sealed } of factors) {
        const anew = seal.sealAnew(ownerOf({ id: userId }), sealed);
        if (anew !== undefined && (await store.resealFactor(userId, anew, sealed))) count += 1;
      }
      const last = factors.at(-1);
      if (last === undefined || factors.length < SEALED_ANEW_AT_ONCE) return count;
      afterId = last.userId;
    }
  }

  #failed(user: UserRow, cause?: unknown): GatewayError {
    this.guesses.failed(nameOf(user));
    return new GatewayError("ERROR_REASON_SIGN_IN_REFUSED", {}, { cause });
  }

  #secret(user: UserRow, sealed: Uint8Array): Uint8Array {
    const text = this.options.seal.open(ownerOf(user), sealed);
    if (text !== undefined) return Buffer.from(text, "base64");
    throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: new Error("no root secret opens a second factor") });
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

function factorEvent(act: Act, userId: string, change: string): AuditEvent {
  return userEvent(act, userId, { after: JSON.stringify({ second_factor: change }) });
}

function ownerOf({ id }: Pick<UserRow, "id">): string {
  return `second factor of ${id}`;
}

/** Only who has the password comes so far: nobody else can have the person wait here. */
function nameOf({ id }: UserRow): string {
  return `second factor of ${id}`;
}
