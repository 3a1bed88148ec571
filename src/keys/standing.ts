/** How a key stands: who it lets in, within the settings of the keys that made it, and whether and when it ends. */
import { invalid } from "../api/check.js";
import type { KeyRow, KeyStore, Store } from "../store/store.js";
import { accountDemandsOf, accountLimitsOf, contentOf } from "./account-limits.js";
import type { Caller } from "./caller.js";
import { isHiddenId } from "./key-id.js";
import { type AccountState, callerOf } from "./key-caller.js";
import type { Role } from "./roles.js";

/** What a standing is read from. */
export type StandingStore = Pick<Store, "keys" | "accounts" | "people">;

export interface Standing {
  readonly caller: Caller;
  readonly revision: number;
  /** The role by which the person who made it may still do something; undefined where no person bounds it. */
  readonly role: Role | undefined;
  readonly maker: Standing | undefined;
  /** True where the key is revoked, or one that made it and ends what it made. */
  readonly revoked: boolean;
  /** True where the person under whose hidden key it stands left the account, and its keys were not kept. */
  readonly makerLeft: boolean;
  /** When the key expires, or one that made it and ends what it made. */
  readonly endMs: number;
}

/** A key that so many keys made in a row makes no more. */
export const MAKERS_MAX = 8;

/** Before the id of an account among the names of what a standing depends on; no key's id has a colon. */
export const ACCOUNT = "account:";
/** Before the id of a person among the names of what changed. */
export const PERSON = "user:";

/**
 * Reads the makers of a key, what the person at their beginning may now, and the limits and the freeze of its account.
 * The caller is the one of `known` where nothing has changed since, so that what others keep beside it stays.
 */
export async function standingOf(row: KeyRow, store: StandingStore, known?: Standing): Promise<Standing> {
  const account = await store.accounts.get(row.accountId);
  const accountLimits = account && accountLimitsOf(account, known?.caller.accountLimits);
  const content = account && contentOf(account, known?.caller.content);
  const accountDemands = account && accountDemandsOf(account, known?.caller.accountDemands);
  const state = { accountLimits, content, accountDemands, freezeReason: account?.freeze?.reason };
  return standingWithin(row, state, store, known);
}

async function standingWithin(
  row: KeyRow,
  account: AccountState,
  store: StandingStore,
  known: Standing | undefined,
): Promise<Standing> {
  const same = known?.caller.keyId === row.id ? known : undefined;
  const makerRow = row.makerId === null ? undefined : await store.keys.get(row.makerId);
  const maker = makerRow && (await standingWithin(makerRow, account, store, same?.maker));
  const role = maker === undefined ? await roleOfMaker(row, store) : undefined;
  const kept =
    same?.revision === row.revision &&
    same.role === role &&
    same.maker?.caller === maker?.caller &&
    same.caller.accountLimits === account.accountLimits &&
    same.caller.content === account.content &&
    same.caller.accountDemands === account.accountDemands &&
    same.caller.freezeReason === account.freezeReason;
  const caller = kept ? same.caller : callerOf(row, maker?.caller, account, role);
  const end = maker?.caller.key.settings?.childrenEndWithIt === true ? maker : undefined;
  const makerLeft = maker?.makerLeft === true || (isHiddenId(row.id) && row.revokeTimeMs !== null);
  return {
    caller,
    revision: row.revision,
    role,
    maker,
    makerLeft,
    revoked: row.revokeTimeMs !== null || end?.revoked === true || makerLeft,
    endMs: Math.min(caller.key.settings?.expireTime?.getTime() ?? Infinity, end?.endMs ?? Infinity),
  };
}

/**
 * A person's keys in an account stand under the person's hidden key there, and may do what the role gives now. Without
 * one they were handed to the account, as are those of a person who left (decision 0430). What an operator made for an
 * account is the account's too; it may more than the owner's keys as long as the person is an operator.
 */
async function roleOfMaker(
  { id, accountId, makerUserId }: KeyRow,
  { people }: Pick<StandingStore, "people">,
): Promise<Role | undefined> {
  if (typeof makerUserId !== "string") return undefined;
  const role = await people.roleIn(accountId, makerUserId);
  if (isHiddenId(id)) return role;
  return role === "operator" ? undefined : "owner";
}

/** Throws PARAMETER_INVALID where the key is revoked. */
export function requireAlive(row: KeyRow): void {
  if (row.revokeTimeMs !== null) throw invalid("id", "the key is revoked, for good; create a new one");
}

/** Those that made a key: its maker, that one's, and so on. A key's maker never changes. */
export async function makerIdsOf(id: string, keys: KeyStore): Promise<readonly string[]> {
  const makerIds: string[] = [];
  for (let row = await keys.get(id); typeof row?.makerId === "string"; row = await keys.get(row.makerId))
    makerIds.push(row.makerId);
  return makerIds;
}

/** The caller's key, its makers and its account: a change of any of them changes how it stands. */
export function namesOf(caller: Caller): readonly string[] {
  const names = [`${ACCOUNT}${caller.accountId}`];
  for (let at: Caller | undefined = caller; at !== undefined; at = at.maker) names.push(at.keyId);
  return names;
}
