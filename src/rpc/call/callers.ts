/** Who calls: a key by its secret, a person by a session that a front end of ours tells, or nobody yet. */
import { Key, KeySettings } from "../../api/index.js";
import { ACCOUNT_HEADER, SESSION_HEADER } from "../../api/session-headers.js";
import { unknown } from "../../api/check.js";
import { GatewayError } from "../../base/errors.js";
import { DEFAULT_SCOPES } from "../../keys/key-settings.js";
import type { Caller, CallerUser } from "../../keys/caller.js";
import { roleMissing } from "../../keys/scope-missing.js";
import type { Plan } from "../../plans/plan.js";
import { FRONT_HEADER, isFront, type Origin } from "./client-address.js";
import { beginsRequest } from "./begins-request.js";
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

/** A person's call: who calls for that person, and the role for which it may. */
export interface SessionCaller {
  readonly caller: Caller;
  readonly user: CallerUser;
}

/** What a person's hidden key is found, or made, with. */
export type HiddenKeyParts = Pick<CoreParts, "identity" | "keys" | "ledger" | "plans">;

/**
 * The person of a session; where the method begins a request to a model, the hidden key by which that person tries
 * models. Rejects with SESSION_ENDED, SECOND_FACTOR_REQUIRED, ROLE_MISSING, or RESOURCE_UNKNOWN for an account of
 * others.
 */
export async function sessionCaller(parts: HiddenKeyParts, told: ToldSession, path: string): Promise<SessionCaller> {
  const { identity, keys } = parts;
  const caller = await identity.authenticate(told.token, told.accountId);
  const { user } = caller;
  if (!beginsRequest(path)) return { caller, user };
  if (user.lacksSecondFactor) throw new GatewayError("ERROR_REASON_SECOND_FACTOR_REQUIRED");
  if (!caller.may("chat", false)) throw roleMissing(user, "chat");
  return { caller: await keys.hiddenCaller(await hiddenKey(parts, caller.accountId, user)), user };
}

/**
 * The id of the hidden key of a person in an account, which is made where it is first needed: the playground uses it,
 * and the person's own keys stand under it, so that its limits are those of the person: at first those that the plan
 * of the account gives its members. Nobody ever learns its secret.
 */
export async function hiddenKey(
  parts: HiddenKeyParts,
  accountId: string,
  { id: userId, role }: Pick<CallerUser, "id"> & Partial<Pick<CallerUser, "role">>,
): Promise<string> {
  const { identity, keys } = parts;
  const known = await identity.playgroundKey(userId, accountId, "");
  if (known !== "") return known;
  // An operator may be no member, and sets the limits of all.
  const limits = role === "operator" ? undefined : (await planOf(parts, accountId))?.members;
  const key = await keys.createHidden({ accountId, settings: { ...HIDDEN, ...limits }, makerUserId: userId });
  const id = await identity.playgroundKey(userId, accountId, key.id);
  // The person left the account meanwhile.
  if (id === "") throw unknown("account", accountId);
  return id;
}

/** The plan of an account; undefined where it has none, or one that is gone. Rejects with RESOURCE_UNKNOWN. */
export async function planOf(
  { ledger, plans }: Pick<CoreParts, "ledger" | "plans">,
  accountId: string,
): Promise<Plan | undefined> {
  return plans?.get((await ledger.account(accountId)).plan);
}

/** What keys of people may do at most. */
const HIDDEN = {
  ...KeySettings.decode(new Uint8Array()),
  name: "Playground",
  scopes: [...DEFAULT_SCOPES, "keys"],
};

/** Calls a method that asks for nobody: it may do nothing else. */
export const NOBODY: Caller = {
  keyId: "",
  accountId: "",
  user: undefined,
  key: Key.decode(new Uint8Array()),
  settings: KeySettings.decode(new Uint8Array()),
  accountLimits: undefined,
  content: undefined,
  accountDemands: undefined,
  demands: undefined,
  freezeReason: undefined,
  revisions: undefined,
  maker: undefined,
  isUnder: () => false,
  hasScope: () => false,
  may: () => false,
  mayUseModel: () => false,
  mayComeFrom: () => true,
};
