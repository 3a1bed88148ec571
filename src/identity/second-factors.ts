/** Second factors: how a person gets one, what counts as a code of it, and what helps where it is lost. */
import { unknown } from "../api/check.js";
import { type Act, type AuditEvent, markWritten } from "../audit/act.js";
import { GatewayError } from "../base/errors.js";
import type { UserRow } from "../store/people-rows.js";
import type { PeopleStore } from "../store/people-store.js";
import type { Guesses } from "./guesses.js";
import { type TellsOfUsers, userEvent } from "./members.js";
import { digestOf, type RandomBytes } from "./tokens.js";
import { base32, otpauthUri, stepOf } from "./totp.js";

/** Encrypts what must be read again; each text for its owner. */
export interface Seal {
  seal(ownerId: string, text: string): Uint8Array;
  /** Undefined where it cannot be read. */
  open(ownerId: string, bytes: Uint8Array): string | undefined;
  /** Sealed with the key in force; undefined where it needs no key that will be gone. */
  sealAnew(ownerId: string, bytes: Uint8Array): Uint8Array | undefined;
}

export interface SecondFactorsOptions {
  readonly store: PeopleStore;
  readonly nowMs: () => number;
  readonly randomBytes: RandomBytes;
  readonly keys: TellsOfUsers;
  readonly seal: Seal;
}

/** How somebody showed a second factor; none where the person has none. */
export type Shown = "none" | "code" | "recovery code";

const ISSUER = "Tollgate";
/** As long as the hash, as RFC 4226 asks. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits: nobody guesses them, whatever the rate. */
const RECOVERY_BYTES = 10;
const TEXT_MAX = 64;
const SEALED_ANEW_AT_ONCE = 500;

export class SecondFactors {
  constructor(
    private readonly options: SecondFactorsOptions,
    private readonly guesses: Guesses,
  ) {}

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

  /** The recovery codes. Rejects with RESOURCE_UNKNOWN, SIGN_IN_REFUSED or RATE_LIMITED. */
  async confirm(user: UserRow, sessionId: string, code: string, act: Act): Promise<readonly string[]> {
    const { store, keys } = this.options;
    await this.guesses.takeName(nameOf(user));
    const factor = await store.secondFactor(user.id);
    if (factor === undefined || factor.confirmTimeMs !== null) throw unknown("second factor", user.email);
    const nowMs = this.#nowMs();
    const step = stepOf(this.#secret(user, factor.sealed), code.slice(0, TEXT_MAX), nowMs);
    if (step === undefined) throw this.#failed(user);
    const codes = this.#newCodes();
    const confirmed = { userId: user.id, step, sessionId, nowMs };
    if (!(await store.confirmSecondFactor(confirmed, digestsOf(codes), factorEvent(act, user.id, "confirmed"))))
      throw this.#failed(user);
    markWritten(act);
    await keys.publishUser(user.id);
    return codes;
  }

  /** Takes a code, which is good once. Rejects with SECOND_FACTOR_MISSING, SIGN_IN_REFUSED or RATE_LIMITED. */
  async check(user: UserRow, code: string): Promise<Shown> {
    if (!user.secondFactor) return "none";
    if (code === "") throw new GatewayError("ERROR_REASON_SECOND_FACTOR_MISSING");
    await this.guesses.takeName(nameOf(user));
    const shown = await this.#taken(user, code.slice(0, TEXT_MAX));
    if (shown === undefined) throw this.#failed(user);
    this.guesses.succeeded(nameOf(user));
    return shown;
  }

  async #taken(user: UserRow, code: string): Promise<Shown | undefined> {
    const { store } = this.options;
    const factor = await store.secondFactor(user.id);
    // It was taken away since the password was compared.
    if (factor === undefined || factor.confirmTimeMs === null) return undefined;
    const step = stepOf(this.#secret(user, factor.sealed), code, this.#nowMs());
    if (step !== undefined) return (await store.useStep(user.id, step)) ? "code" : undefined;
    return (await store.useRecoveryCode(user.id, digestOf(plain(code)))) ? "recovery code" : undefined;
  }

  codesLeft(user: UserRow): Promise<number> {
    return user.secondFactor ? this.options.store.recoveryCodesLeft(user.id) : Promise.resolve(0);
  }

  /** Rejects with RESOURCE_UNKNOWN. */
  async newRecoveryCodes(user: UserRow, act: Act): Promise<readonly string[]> {
    const codes = this.#newCodes();
    const event = factorEvent(act, user.id, "recovery codes replaced");
    if (!(await this.options.store.replaceRecoveryCodes(user.id, digestsOf(codes), event)))
      throw unknown("second factor", user.email);
    markWritten(act);
    return codes;
  }

  /** Rejects with RESOURCE_UNKNOWN. */
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

  #failed(user: UserRow): GatewayError {
    this.guesses.failed(nameOf(user));
    return new GatewayError("ERROR_REASON_SIGN_IN_REFUSED");
  }

  #secret(user: UserRow, sealed: Uint8Array): Uint8Array {
    const text = this.options.seal.open(ownerOf(user), sealed);
    if (text !== undefined) return Buffer.from(text, "base64");
    throw new GatewayError("ERROR_REASON_INTERNAL", {}, { cause: new Error("no root secret opens a second factor") });
  }

  #newCodes(): readonly string[] {
    return Array.from({ length: RECOVERY_CODES }, () =>
      base32(this.options.randomBytes(RECOVERY_BYTES))
        .toLowerCase()
        .replace(/(.{4})(?=.)/g, "$1-"),
    );
  }

  #nowMs(): number {
    return Math.floor(this.options.nowMs());
  }
}

function factorEvent(act: Act, userId: string, change: string): AuditEvent {
  return userEvent(act, userId, { after: JSON.stringify({ second_factor: change }) });
}

function digestsOf(codes: readonly string[]): readonly Uint8Array[] {
  return codes.map((code) => digestOf(plain(code)));
}

/** However it was typed. */
function plain(code: string): string {
  return code.toLowerCase().replaceAll(/[\s-]/g, "");
}

function ownerOf({ id }: Pick<UserRow, "id">): string {
  return `second factor of ${id}`;
}

/** Only who has the password comes so far: nobody else can have the person wait here. */
function nameOf({ id }: UserRow): string {
  return `second factor of ${id}`;
}
