/** Where content of requests is kept, sealed. A driver implements it. */

export interface ContentRow {
  readonly id: string;
  readonly accountId: string;
  /** By whom it is erased; empty where nobody was named. */
  readonly endUser: string;
  readonly endTimeMs: number;
  readonly sealed: Uint8Array;
}

/** The key that an account's content is sealed with, itself sealed with the root secret. */
export interface SealedKey {
  readonly accountId: string;
  readonly sealed: Uint8Array;
}

export interface ContentStore {
  /** All of them in one transaction. One that is there stays. */
  put(rows: readonly ContentRow[]): Promise<void>;
  find(id: string): Promise<Omit<ContentRow, "endUser"> | undefined>;
  /** Forgets what was of a person, in one account or in all, and says how many that were. */
  erase(accountId: string | undefined, endUser: string): Promise<number>;
  /** Forgets what was of these requests, and says how many that were. */
  eraseOf(ids: readonly string[]): Promise<number>;
  /** Forgets at most `count` that ended before, and says how many. */
  forgetBefore(timeMs: number, count: number): Promise<number>;
  /** What an account has, in bytes. */
  bytesOf(accountId: string): Promise<number>;
  /** Forgets an account's oldest, at most `count`, and says how many bytes that were. */
  forgetOldest(accountId: string, count: number): Promise<number>;
  key(accountId: string): Promise<Uint8Array | undefined>;
  keys(): Promise<readonly SealedKey[]>;
  /** Where the account has one already, that one stays. */
  putKey(key: SealedKey): Promise<void>;
  /** Changes a key's seal, where it is still as it was. */
  resealKey(key: SealedKey, before: Uint8Array): Promise<void>;
  close(): Promise<void>;
}
