/** A caller and a key, made of a key's row. */
import { isHiddenId } from "./key-id.js";
import { type ContentSettings, Key, KeySettings } from "../api/index.js";
import { type Demands, demandsOf, tightened } from "../base/demands.js";
import type { Revisions } from "../coordination/coordination.js";
import type { KeyRow } from "../store/store.js";
import type { AccountLimits } from "./account-limits.js";
import { AddressSet } from "./address-range.js";
import type { Caller } from "./caller.js";
import { lowered } from "./within.js";
import { type Role, roleMay, scopesWithin } from "./roles.js";
import { isImported } from "./secret.js";
import { GlobSet, MODEL_NAME_LENGTH_MAX } from "./glob.js";

export const FIRST_REVISION = 1;
/** The etag of a key that nobody has changed. */
export const FIRST_ETAG = String(FIRST_REVISION);

/** The key as the protocol shows it. Nothing of it leads to the secret. */
export function keyOf(row: KeyRow): Key {
  return {
    id: row.id,
    accountId: row.accountId,
    makerId: row.makerId === null || isHiddenId(row.makerId) ? "" : row.makerId,
    makerUserId: row.makerUserId ?? "",
    settings: KeySettings.decode(row.settings),
    hint: row.hint,
    createTime: new Date(row.createTimeMs),
    revokeTime: row.revokeTimeMs === null ? undefined : new Date(row.revokeTimeMs),
    etag: String(row.revision),
    managed: (row.fileState ?? "") !== "",
    secretImported: isImported(row.digest),
  };
}

/** The caller of a key's row, with all that its checks need worked out. `role`: of the person who bounds it. */
export function callerOf(row: KeyRow, maker?: Caller, account: AccountState = NO_STATE, role?: Role): Caller {
  const settings = KeySettings.decode(row.settings);
  const bounded = maker === undefined ? settings : lowered(settings, maker.settings);
  const scopes = role === undefined ? bounded.scopes : scopesWithin(role, bounded.scopes);
  return new KeyCaller({ ...keyOf(row), settings }, { ...bounded, scopes }, maker, account, role);
}

/** What an account says of all its keys. */
export type AccountState = Pick<Caller, "accountLimits" | "content" | "accountDemands" | "freezeReason">;
const NO_STATE: AccountState = {
  accountLimits: undefined,
  content: undefined,
  accountDemands: undefined,
  freezeReason: undefined,
};

class KeyCaller implements Caller {
  readonly accountLimits: AccountLimits | undefined;
  readonly content: ContentSettings | undefined;
  readonly accountDemands: Demands | undefined;
  readonly demands: Demands | undefined;
  readonly freezeReason: string | undefined;
  readonly keyId: string;
  readonly accountId: string;
  readonly user = undefined;
  revisions: Revisions | undefined;
  readonly #scopes: ReadonlySet<string>;
  readonly #models: GlobSet | undefined;
  readonly #modelsDenied: GlobSet;
  readonly #addresses: AddressSet | undefined;

  constructor(
    readonly key: Key,
    readonly settings: KeySettings,
    readonly maker: Caller | undefined,
    { accountLimits, content, accountDemands, freezeReason }: AccountState,
    private readonly role: Role | undefined,
  ) {
    this.accountLimits = accountLimits;
    this.content = content;
    this.accountDemands = accountDemands;
    this.demands = tightened(maker?.demands ?? accountDemands, demandsOf(settings.demands));
    this.freezeReason = freezeReason;
    this.keyId = key.id;
    this.accountId = key.accountId;
    this.#scopes = new Set(settings.scopes);
    this.#models = settings.models.length === 0 ? undefined : new GlobSet(settings.models);
    this.#modelsDenied = new GlobSet(settings.modelsDenied, true);
    this.#addresses = settings.addresses.length === 0 ? undefined : new AddressSet(settings.addresses);
  }

  isUnder(id: string): boolean {
    return this.keyId === id || this.key.makerUserId === id || this.maker?.isUnder(id) === true;
  }

  hasScope(scope: string): boolean {
    if (!this.#scopes.has(scope) && !this.#scopes.has("operator")) return false;
    return this.maker === undefined || this.maker.hasScope(scope);
  }

  may(scope: string, reads: boolean): boolean {
    if (!this.hasScope(scope) || (this.role !== undefined && !roleMay(this.role, scope, reads))) return false;
    return this.maker === undefined || this.maker.may(scope, reads);
  }

  mayUseModel(model: string): boolean {
    // Globs do not look at longer names, so that a denied one must not pass for not denied.
    if (model.length > MODEL_NAME_LENGTH_MAX) return false;
    if (this.#modelsDenied.matches(model) || this.#models?.matches(model) === false) return false;
    return this.maker === undefined || this.maker.mayUseModel(model);
  }

  mayComeFrom(address: string): boolean {
    if (this.#addresses?.has(address) === false) return false;
    return this.maker === undefined || this.maker.mayComeFrom(address);
  }
}
