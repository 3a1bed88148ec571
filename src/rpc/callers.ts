/** Who calls: a key by its secret, a person by a session that a front end of ours tells, or nobody yet. */
import { Key, KeySettings } from "../api/index.js";
import { ACCOUNT_HEADER, SESSION_HEADER } from "../api/session-headers.js";
import type { Caller } from "../keys/caller.js";
import { FRONT_HEADER, isFront, type Origin } from "./address.js";
import type { CoreParts } from "./core.js";

/** A person's session and account; undefined where the call carries none that may be believed. */
export interface ToldSession {
  readonly token: string;
  readonly accountId: string;
}

/** Strangers may send the same metadata over gRPC: a session is no credential there. */
export function toldSession(
  { metadata, local }: Pick<Origin, "metadata" | "local">,
  frontTokens: readonly string[],
): ToldSession | undefined {
  const token = metadata[SESSION_HEADER];
  if (token === undefined || token === "") return undefined;
  if (!local && !isFront(metadata[FRONT_HEADER], frontTokens)) return undefined;
  return { token, accountId: metadata[ACCOUNT_HEADER] ?? "" };
}

/** The person of a session. Rejects with SESSION_ENDED, or RESOURCE_UNKNOWN for an account of others. */
export function sessionCaller({ identity }: Pick<CoreParts, "identity">, told: ToldSession): Promise<Caller> {
  return identity.authenticate(told.token, told.accountId);
}

/** Calls a method that asks for nobody: it may do nothing else. */
export const NOBODY: Caller = {
  keyId: "",
  accountId: "",
  user: undefined,
  key: Key.decode(new Uint8Array()),
  settings: KeySettings.decode(new Uint8Array()),
  accountLimits: undefined,
  freezeReason: undefined,
  revisions: undefined,
  maker: undefined,
  isUnder: () => false,
  hasScope: () => false,
  may: () => false,
  mayUseModel: () => false,
  mayComeFrom: () => true,
};
