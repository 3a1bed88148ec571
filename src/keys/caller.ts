/** Who calls: an account's key, and what it may do. */
import type { AccountLimits } from "./account-limits.js";
import type { OwnQuota } from "./own-quotas.js";
import type { Role } from "./roles.js";
import type { ContentSettings, Key, KeySettings } from "../api/index.js";
import type { Demands } from "../base/demands.js";
import type { Revisions } from "../coordination/coordination.js";

/** The scopes that a key can have. An operator key has all of them. */
export const SCOPES = [
  "chat",
  "embeddings",
  "rerank",
  "moderations",
  "audio",
  "models",
  "usage",
  "keys",
  "audit",
  "alerts",
  "operator",
] as const;
export type Scope = (typeof SCOPES)[number];

/** The person that a caller is. */
export interface CallerUser {
  readonly id: string;
  readonly sessionId: string;
  readonly role: Role;
  /** True where a second factor is asked for that the person does not have: only the person's own settings are open. */
  readonly lacksSecondFactor: boolean;
  /** True where the person showed the password, and the second factor, of late. */
  readonly isFresh: boolean;
}

/**
 * An authenticated caller: a key, or a person who signed in. Of a key there is one object for each revision, shared by
 * all its requests.
 */
export interface Caller {
  /** The id of the key, or of the person. */
  readonly keyId: string;
  /** Whose account it acts in; empty for a person without one. */
  readonly accountId: string;
  /** Undefined for a key. */
  readonly user: CallerUser | undefined;
  readonly key: Key;
  /** The key's settings, with each limit lowered to those of its makers, and the scopes that its person may give. */
  readonly settings: KeySettings;
  /** What its account limits beside; undefined where nothing. */
  readonly accountLimits: AccountLimits | undefined;
  /** The quotas of the key alone; undefined or absent where it has none. */
  readonly quotas?: readonly OwnQuota[] | undefined;
  /** How what its requests say is kept; undefined where it is not. */
  readonly content: ContentSettings | undefined;
  /** What its account demands of targets; undefined where nothing. */
  readonly accountDemands: Demands | undefined;
  /** What its account, its key and its makers demand together; undefined where nothing. */
  readonly demands: Demands | undefined;
  /** Why its account is frozen; undefined where it is not. */
  readonly freezeReason: string | undefined;
  /**
   * Under which revisions it was read from the store; undefined where nodes do not share any. Whoever reads the same
   * anew writes the new ones here.
   */
  revisions: Revisions | undefined;
  /** The key that made this one, within whose settings it is used; undefined where an operator made it. */
  readonly maker: Caller | undefined;
  /** True for the id of the caller's own key, and for that of each key and person that made it or its maker. */
  isUnder(id: string): boolean;
  /** True where the key carries the scope, itself or as an operator; where the person may see what is of the scope. */
  hasScope(scope: string): boolean;
  /** True where it may call a method that asks for the scope, and only shows something where `reads`. */
  may(scope: string, reads: boolean): boolean;
  /** True where the key may use the model. */
  mayUseModel(model: string): boolean;
  /** True where the key may be used from the address, an IP literal; an empty one is not known. */
  mayComeFrom(address: string): boolean;
}
