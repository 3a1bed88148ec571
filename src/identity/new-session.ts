/** A session as it begins. */
import type { SessionRow, UserRow } from "../store/people-rows.js";
import { makeId, makeToken, type RandomBytes, type Token } from "./tokens.js";

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

export interface NewSession {
  readonly session: SessionRow;
  readonly token: Token;
}

const USER_AGENT_LENGTH_MAX = 256;

export function newSession(
  { id: userId }: UserRow,
  { address, userAgent }: Device,
  shown: Pick<SessionRow, "method" | "proofTimeMs">,
  { nowMs, randomBytes }: { readonly nowMs: number; readonly randomBytes: RandomBytes },
): NewSession {
  const token = makeToken(randomBytes);
  const times = { createTimeMs: nowMs, useTimeMs: nowMs };
  const device = { address, userAgent: userAgent.slice(0, USER_AGENT_LENGTH_MAX) };
  const session = { id: makeId("session", randomBytes), digest: token.digest, userId, ...times, ...device, ...shown };
  return { session, token };
}
