/** Who calls: an account's key, and what it may do. */
import type { AccountLimits } from "./account-limits.js";
import type { Key, KeySettings } from "../api/index.js";
import type { Revisions } from "../coordination/coordination.js";

/** The scopes that a key can have. An operator key has all of them. */
export const SCOPES = ["chat", "embeddings", "models", "usage", "keys", "operator"] as const;
export type Scope = (typeof SCOPES)[number];

/** An authenticated caller. One object for each key and revision, shared by all its requests. */
export interface Caller {
  readonly keyId: string;
  readonly accountId: string;
  readonly key: Key;
  /** The key's settings, with each limit lowered to those of its makers. */
  readonly settings: KeySettings;
  /** What its account limits beside; undefined where nothing. */
  readonly accountLimits: AccountLimits | undefined;
  /** Why its account is frozen; undefined where it is not. */
  readonly freezeReason: string | undefined;
  /**
   * Under which revisions it was read from the store; undefined where nodes do not share any. Whoever reads the same
   * anew writes the new ones here.
   */
  revisions: Revisions | undefined;
  /** The key that made this one, within whose settings it is used; undefined where an operator made it. */
  readonly maker: Caller | undefined;
  /** True for the caller's own key, and for each that made it or its maker. */
  isUnder(keyId: string): boolean;
  /** True where the key carries the scope, itself or as an operator. */
  hasScope(scope: string): boolean;
  /** True where the key may use the model. */
  mayUseModel(model: string): boolean;
  /** True where the key may be used from the address, an IP literal; an empty one is not known. */
  mayComeFrom(address: string): boolean;
}
