/** What a caller may do to keys: nobody reaches another account's keys, or grants what its own key has not. */
import type { Key, KeySettings } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { Caller, CallerUser } from "./caller.js";
import type { ImportedSecret } from "./imported-secret.js";
import { type Role, scopesWithin } from "./roles.js";
import { isHiddenId } from "./key-id.js";
import { newSettings, settingName } from "./key-settings.js";
import { roleMissing, scopeMissing } from "./scope-missing.js";
import { MAKERS_MAX } from "./standing.js";
import { excessOf, inherited, isWithin, quotasExcess } from "./within.js";

/** A key to be made. */
export interface CreateKeyParams {
  readonly accountId: string;
  readonly settings: KeySettings | undefined;
  /** A secret to import; empty or absent: one is made. */
  readonly secret?: string | undefined;
  /** A secret to import by its digest; absent: none. */
  readonly imported?: ImportedSecret | undefined;
  /** The key that makes it; absent: an operator does, or a settings file. */
  readonly makerId?: string | undefined;
  /** The person who makes it. */
  readonly makerUserId?: string | undefined;
}

/** A key and those that made it: its maker, that one's, and so on. */
export interface KeyInLine {
  readonly key: Key;
  readonly makerIds: readonly string[];
}

/**
 * The settings of a new key as they may be granted: a key of the caller's account, within the caller's own settings,
 * which stand wherever the request says nothing. An operator's request stays as it is. Throws RESOURCE_UNKNOWN for
 * another account, SCOPE_MISSING, and KEY_TOO_WIDE.
 */
export function grantedParams(caller: Caller, params: CreateKeyParams): CreateKeyParams {
  const settings = newSettings(params.settings);
  if (caller.user !== undefined) return paramsOfUser(caller, caller.user, { ...params, settings });
  if (caller.hasScope("operator")) return { ...params, settings };
  if (params.accountId !== caller.accountId)
    throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "account", id: params.accountId });
  if (importsSecret(params)) throw scopeMissing(caller, "operator");
  if (makerCount(caller) >= MAKERS_MAX) {
    const problem = `has ${MAKERS_MAX} makers above it, the maximum, and cannot make keys`;
    throw new GatewayError("ERROR_REASON_KEY_TOO_WIDE", { setting: "scopes", problem: `your key ${problem}` });
  }
  const granted = inherited(settings, boundsOf(caller));
  requireMayGrant(caller, granted);
  return { ...params, settings: granted, makerId: caller.keyId };
}

function importsSecret({ secret = "", imported }: CreateKeyParams): boolean {
  return secret !== "" || imported !== undefined;
}

/** Throws SCOPE_MISSING or KEY_TOO_WIDE where the settings go beyond the caller's own. */
function requireMayGrant(caller: Caller, settings: KeySettings): void {
  if (caller.user !== undefined) return requireUserMayGrant(caller.user, settings);
  if (caller.hasScope("operator")) return;
  for (const scope of settings.scopes) if (!caller.hasScope(scope)) throw scopeMissing(caller, scope);
  for (let maker: Caller | undefined = caller; maker !== undefined; maker = maker.maker)
    requireWithin(settings, maker.settings);
}

/** Throws where the caller may not end the key, or give it these settings: its own key only gets narrower. */
export function requireMayChange(caller: Caller, { key, makerIds }: KeyInLine, changed: KeySettings): void {
  requireMayEnd(caller, { key, makerIds });
  if (key.id !== caller.keyId) requireMayGrant(caller, changed);
  else if (!caller.hasScope("operator") && key.settings !== undefined) requireNarrower(changed, key.settings);
}

function requireNarrower(changed: KeySettings, own: KeySettings): void {
  requireWithin(changed, own);
  const problem = quotasExcess(changed.quotas, own.quotas);
  if (problem !== "") throw new GatewayError("ERROR_REASON_KEY_TOO_WIDE", { setting: settingName("quotas"), problem });
}

function requireWithin(settings: KeySettings, most: KeySettings): void {
  const excess = excessOf(settings, most);
  if (excess === undefined) return;
  const { field, problem } = excess;
  throw new GatewayError("ERROR_REASON_KEY_TOO_WIDE", { setting: settingName(field), problem });
}

/**
 * True where the caller may see the key. A person sees the account's own; a key its own, one that it made, or one that
 * may do no more than its own.
 */
export function maySee(caller: Caller, key: Key): boolean {
  if (isHiddenId(key.id)) return false;
  if (caller.hasScope("operator")) return true;
  if (key.accountId !== caller.accountId) return false;
  if (caller.user !== undefined) return true;
  return key.id === caller.keyId || key.makerId === caller.keyId || isWithinCaller(key, caller);
}

/** Throws RESOURCE_UNKNOWN where the caller may not see the key. */
export function requireMaySee(caller: Caller, key: Key): void {
  if (!maySee(caller, key)) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "key", id: key.id });
}

/**
 * Throws where the caller may not learn the key's new secret: that of a stronger key would be a way to what the
 * caller's own may not do.
 */
export function requireMayRotate(caller: Caller, { key, makerIds }: KeyInLine): void {
  requireMayEnd(caller, { key, makerIds });
  if (key.id !== caller.keyId && key.settings !== undefined) requireMayGrant(caller, key.settings);
}

/**
 * Throws where the caller may not end the key: one that it does not see; of a key, one that it did not make, nor any
 * that it made; of a person, one that somebody else made or that may do more than the person could grant. That another
 * key may do no more is not enough: with its secret the caller would have that key's windows, budgets and life as well.
 */
export function requireMayEnd(caller: Caller, { key, makerIds }: KeyInLine): void {
  requireMaySee(caller, key);
  const { user } = caller;
  if (user === undefined) {
    const isOwn = key.id === caller.keyId || makerIds.includes(caller.keyId);
    if (!isOwn && !caller.hasScope("operator")) throw scopeMissing(caller, "operator");
    return;
  }
  if (user.role === "operator") return;
  const isOwn = key.makerUserId === user.id || KEEPERS.has(user.role);
  if (!isOwn) throw roleMissing(user, "keys");
  if (key.settings !== undefined) requireUserMayGrant(user, key.settings);
}

/** Who changes keys that others made. */
const KEEPERS: ReadonlySet<Role> = new Set(["owner", "admin"]);

function paramsOfUser(caller: Caller, user: CallerUser, params: CreateKeyParams): CreateKeyParams {
  if (user.role !== "operator") {
    if (params.accountId !== caller.accountId)
      throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "account", id: params.accountId });
    if (importsSecret(params)) throw roleMissing(user, "operator");
    requireUserMayGrant(user, params.settings ?? newSettings(undefined));
  }
  return { ...params, makerUserId: user.id };
}

function requireUserMayGrant(user: CallerUser, { scopes }: KeySettings): void {
  const granted = scopesWithin(user.role, scopes);
  const missing = scopes.find((scope) => !granted.includes(scope));
  if (missing !== undefined) throw roleMissing(user, missing);
}

function isWithinCaller(key: Key, caller: Caller): boolean {
  const { settings } = key;
  return (
    settings !== undefined && settings.scopes.every((scope) => caller.hasScope(scope)) && isUnderAll(settings, caller)
  );
}

function isUnderAll(settings: KeySettings, caller: Caller | undefined): boolean {
  return caller === undefined || (isWithin(settings, caller.settings) && isUnderAll(settings, caller.maker));
}

/** The caller's own settings and, where they say nothing, those of its makers. */
function boundsOf(caller: Caller): KeySettings {
  return caller.maker === undefined ? caller.settings : inherited(caller.settings, boundsOf(caller.maker));
}

function makerCount({ maker }: Caller): number {
  return maker === undefined ? 0 : 1 + makerCount(maker);
}
