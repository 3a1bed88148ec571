/** Whether requests that run must end with their key or their account, as the key or the operator says. */
import { type ErrorMetadata, GatewayError, type ReasonName } from "../base/errors.js";
import type { Caller } from "./caller.js";
import { ACCOUNT, PERSON, type StandingStore, standingOf } from "./standing.js";

/**
 * What changed: a key, with all that it made, an account, or what a person may do and in which sessions; or nobody
 * knows what, and it may be any.
 */
export type Change =
  | { readonly keyId: string }
  | { readonly accountId: string }
  | { readonly userId: string }
  | { readonly any: true };

/** What a revision that nodes share is of; without a name of anything. */
export function changeOf(name: string | undefined): Change {
  if (name === undefined) return { any: true };
  if (name.startsWith(PERSON)) return { userId: name.slice(PERSON.length) };
  return name.startsWith(ACCOUNT) ? { accountId: name.slice(ACCOUNT.length) } : { keyId: name };
}

/** True where the change concerns the caller's key or account. Keys that a person made outlive that person. */
export function concerns(change: Change, caller: Caller): boolean {
  if ("any" in change) return true;
  if ("userId" in change) return false;
  return "keyId" in change ? caller.isUnder(change.keyId) : caller.accountId === change.accountId;
}

/** What the caller's running requests end with now, if anything, and when they will: never is Infinity. */
export interface Ending {
  readonly error: GatewayError | undefined;
  readonly atMs: number;
}

/** As things stand now, which is asked of the store. */
export async function endingOf(caller: Caller, store: StandingStore, nowMs: number): Promise<Ending> {
  const freeze = (await store.accounts.get(caller.accountId))?.freeze;
  if (freeze?.endsStreams === true)
    return ended("ERROR_REASON_ACCOUNT_FROZEN", { account: caller.accountId, cause: freeze.reason });
  const row = await store.keys.get(caller.keyId);
  if (row === undefined) return { error: undefined, atMs: Infinity };
  const { caller: current, revoked, endMs } = await standingOf(row, store);
  const { settings, key } = current;
  if (revoked && settings.endStreamsOnRevoke !== false) return ended("ERROR_REASON_KEY_REVOKED", { key: key.hint });
  if (!settings.endStreamsOnExpiry) return { error: undefined, atMs: Infinity };
  if (nowMs < endMs) return { error: undefined, atMs: endMs };
  return ended("ERROR_REASON_KEY_EXPIRED", { key: key.hint, expired: new Date(endMs).toISOString() });
}

function ended(reason: ReasonName, metadata: ErrorMetadata): Ending {
  return { error: new GatewayError(reason, metadata), atMs: 0 };
}
