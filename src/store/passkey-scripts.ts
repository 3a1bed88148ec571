/** What is asked of the tables of passkeys, each in one transaction. */
import type { AuditEvent } from "../audit/act.js";
import { dropCodesWithLast, firstFactor } from "./factor-scripts.js";
import { holdUser } from "./people-writes.js";
import { audit, row, rows, type Script } from "./script.js";

/** A passkey of a person: a second factor by a key pair, whose private half never leaves the person's devices. */
export interface PasskeyRow {
  readonly id: string;
  readonly userId: string;
  /** As the authenticator named it. Unique. */
  readonly credentialId: Uint8Array;
  /** In the form of COSE. */
  readonly publicKey: Uint8Array;
  /** The host name that the authenticator gives it to. */
  readonly rpId: string;
  /** How browsers reach the authenticator, such as `internal,hybrid`; a hint. */
  readonly transports: string;
  /** How often it was used, as the authenticator says; 0 from those that do not count. */
  readonly counter: number;
  readonly name: string;
  readonly createTimeMs: number;
  readonly useTimeMs: number | null;
}

/** A challenge that was answered: none is answered twice. */
export interface AnsweredChallenge {
  /** SHA-256 of the challenge. */
  readonly digest: Uint8Array;
  /** Longer than it is accepted. */
  readonly keptUntilMs: number;
  readonly nowMs: number;
}

/** A passkey that a person adds, in which session. */
export interface NewPasskey {
  readonly passkey: PasskeyRow;
  readonly challenge: AnsweredChallenge;
  readonly sessionId: string;
}

/** How it was added: as the first second factor of its person, beside others, or not at all. */
export type PasskeyAdded = "first" | "added" | "answered" | "many" | "taken" | "gone";

/** One use of a passkey, with the counter that came with it. */
export interface PasskeyUse {
  readonly userId: string;
  readonly id: string;
  readonly counter: number;
  readonly challenge: AnsweredChallenge;
}

/** `counter`: it did not go up, so another device may have a copy of the key. */
export type PasskeyUsed = "done" | "answered" | "counter" | "gone";

interface PasskeyColumns {
  readonly id: string;
  readonly user_id: string;
  readonly credential_id: Uint8Array;
  readonly public_key: Uint8Array;
  readonly rp_id: string;
  readonly transports: string;
  readonly counter: bigint;
  readonly name: string;
  readonly create_time_ms: bigint;
  readonly use_time_ms: bigint | null;
}

export const PASSKEYS_MAX = 10;
const PASSKEYS = `SELECT * FROM passkey WHERE user_id = ? ORDER BY id LIMIT ${PASSKEYS_MAX}`;
const ADD = `INSERT INTO passkey
  (id, user_id, credential_id, public_key, rp_id, transports, counter, name, create_time_ms, use_time_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING RETURNING id`;
/** Of two uses with the same counter one is taken, on whatever node. */
const USE = `UPDATE passkey SET counter = ?, use_time_ms = ? WHERE id = ? AND user_id = ? AND counter < ?
  RETURNING id`;
const ANSWER = `INSERT INTO passkey_challenge (digest, expire_time_ms) VALUES (?, ?)
  ON CONFLICT DO NOTHING RETURNING expire_time_ms`;
const FORGET_ANSWERED = "DELETE FROM passkey_challenge WHERE expire_time_ms <= ?";

export const PASSKEY_SCRIPTS = {
  /** By their ids. */
  *passkeys(userId: string): Script<readonly PasskeyRow[]> {
    return (yield* rows<PasskeyColumns>(PASSKEYS, userId)).map(toPasskey);
  },

  /** The first second factor brings the recovery codes, and ends every other session of its person. */
  *addPasskey(
    { passkey, challenge, sessionId }: NewPasskey,
    codes: readonly Uint8Array[],
    event: AuditEvent,
  ): Script<PasskeyAdded> {
    const { id, userId, credentialId, publicKey, rpId, transports, counter, name, createTimeMs } = passkey;
    const user = yield* holdUser(userId);
    if (user === undefined) return "gone";
    if (!(yield* answer(challenge))) return "answered";
    if ((yield* rows(PASSKEYS, userId)).length >= PASSKEYS_MAX) return "many";
    const values = [credentialId, publicKey, rpId, transports, counter, name, createTimeMs];
    if ((yield* row(ADD, id, userId, ...values)) === undefined) return "taken";
    const isFirst = yield* firstFactor(user, sessionId, codes);
    yield* audit(event);
    return isFirst ? "first" : "added";
  },

  /** Where its counter did not go up the event is written, and the use does not count. */
  *usePasskey({ userId, id, counter, challenge }: PasskeyUse, wentBack: AuditEvent): Script<PasskeyUsed> {
    if (!(yield* answer(challenge))) return "answered";
    // One that does not count says 0 each time.
    if ((yield* row(USE, counter, challenge.nowMs, id, userId, Math.max(counter, 1))) !== undefined) return "done";
    if ((yield* row("SELECT id FROM passkey WHERE id = ? AND user_id = ?", id, userId)) === undefined) return "gone";
    yield* audit(wentBack);
    return "counter";
  },

  /** False where the person has no such passkey. */
  *renamePasskey(userId: string, id: string, name: string, event: AuditEvent): Script<boolean> {
    const sql = "UPDATE passkey SET name = ? WHERE id = ? AND user_id = ? RETURNING id";
    if ((yield* row(sql, name, id, userId)) === undefined) return false;
    yield* audit(event);
    return true;
  },

  /** With the last second factor the recovery codes go. False where the person has no such passkey. */
  *dropPasskey(userId: string, id: string, event: AuditEvent): Script<boolean> {
    yield* holdUser(userId);
    if ((yield* row("DELETE FROM passkey WHERE id = ? AND user_id = ? RETURNING id", id, userId)) === undefined)
      return false;
    yield* dropCodesWithLast(userId);
    yield* audit(event);
    return true;
  },
};

/** False where it was answered before, on whatever node. */
function* answer({ digest, keptUntilMs, nowMs }: AnsweredChallenge): Script<boolean> {
  yield* rows(FORGET_ANSWERED, nowMs);
  return (yield* row(ANSWER, digest, keptUntilMs)) !== undefined;
}

function toPasskey(found: PasskeyColumns): PasskeyRow {
  return {
    id: found.id,
    userId: found.user_id,
    credentialId: found.credential_id,
    publicKey: found.public_key,
    rpId: found.rp_id,
    transports: found.transports,
    counter: Number(found.counter),
    name: found.name,
    createTimeMs: Number(found.create_time_ms),
    useTimeMs: found.use_time_ms === null ? null : Number(found.use_time_ms),
  };
}
