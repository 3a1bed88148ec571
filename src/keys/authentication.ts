/** From a secret to its caller: a bounded cache in front of the store. */
import { LRUCache } from "lru-cache";
import { boundedTo } from "../base/bounded-to.js";
import { equalInConstantTime } from "../base/constant-time.js";
import { GatewayError } from "../base/errors.js";
import type { Coordination } from "../coordination/coordination.js";
import type { KeyRow, KeyStore } from "../store/store.js";
import type { Caller } from "./caller.js";
import { RecentChanges } from "./recent-changes.js";
import { namesOf, type Standing, type StandingStore, standingOf } from "./standing.js";
import type { Peppers } from "./peppers.js";
import { hintOf, shapeOf } from "./secret.js";

/** What is known of one secret of an existing key. */
interface Entry {
  readonly standing: Standing;
  /** When the secret ends: with its key, or as an old secret after a rotation. */
  readonly endMs: number;
  readonly checkedMs: number;
}

/** What the store knows of a secret. */
interface Found {
  readonly row: KeyRow | undefined;
  /** By which it was found; without a row the last that was asked for. */
  readonly digest: Buffer;
  readonly standing: Standing | undefined;
  /** When its row was read. */
  readonly readMs: number;
}

/** So long an answer of the store is believed, where no word of a change reaches this node. */
export const ENTRY_TTL_MS = 30_000;
const UNKNOWN_TTL_MS = 10_000;
/** Lookups at once. More are refused, because a flood of made-up secrets must not fill the store's queue. */
const LOOKUPS_MAX = 1_024;
/** How often a lookup reads a secret that belongs to another key each time. */
const READS_MAX = 3;

export interface AuthenticationOptions {
  readonly store: StandingStore;
  readonly coordination: Pick<Coordination, "isShared" | "revisionsOf">;
  readonly peppers: Peppers;
  /** Hears that a key was found by a digest that its use replaces. It must not throw. */
  readonly onReplaced: (row: KeyRow, digest: Buffer, secret: string) => void;
  readonly nowMs: () => number;
  /** The clock of what is remembered: no setting of the time makes it old or keeps it young. */
  readonly monotonicMs: () => number;
  /** The most secrets in each of the two caches. */
  readonly cacheEntriesMax: number;
}

/**
 * Knows callers by their secrets.
 *
 * The cache goes by the secret itself rather than a hash of it: a hash would cost each request a microsecond and hide
 * nothing from who can read this process's memory, where every request's headers stand. What it holds is bounded in
 * number and age. Secrets that no key has are kept apart, so that made-up ones cannot drive out good ones.
 */
export class Authentication {
  readonly #store: StandingStore;
  readonly #coordination: Pick<Coordination, "isShared" | "revisionsOf">;
  readonly #peppers: Peppers;
  readonly #onReplaced: AuthenticationOptions["onReplaced"];
  readonly #nowMs: () => number;
  readonly #monotonicMs: () => number;
  readonly #entries: LRUCache<string, Entry>;
  /** When each secret was found to belong to no key. */
  readonly #unknown: LRUCache<string, number>;
  /**
   * The account of each secret that was found, by its digest, so that no secret lingers. It says in whose queue a
   * request waits, and nothing about what its key may do.
   */
  readonly #accounts: LRUCache<string, string>;
  /** The cached secrets of each key with those that it made, and of each account. */
  readonly #secretsByName = new Map<string, Set<string>>();
  readonly #lookups = new Map<string, Promise<Caller>>();
  #lookupCount = 0;
  /** A lookup that began before a change of what it found is not remembered. */
  readonly #changes = new RecentChanges();
  #sweptMs: number;

  constructor(options: AuthenticationOptions) {
    this.#store = options.store;
    this.#coordination = options.coordination;
    this.#peppers = options.peppers;
    this.#onReplaced = options.onReplaced;
    this.#nowMs = options.nowMs;
    this.#monotonicMs = options.monotonicMs;
    this.#sweptMs = options.monotonicMs();
    const bound = boundedTo(options.cacheEntriesMax);
    this.#entries = new LRUCache({
      ...bound,
      dispose: (entry, secret) => this.#unlink(entry.standing, secret),
    });
    this.#unknown = new LRUCache(bound);
    this.#accounts = new LRUCache(bound);
  }

  /** Secrets that are remembered, of keys and of none. */
  get cachedCount(): number {
    return this.#entries.size + this.#unknown.size;
  }

  /** How many changes of keys and accounts were heard of. */
  get changeCount(): number {
    return this.#changes.count;
  }

  /** True where its key, a maker of it or its account may have changed since there had been so many changes. */
  mayHaveChanged(caller: Caller, sinceCount: number): boolean {
    return this.#changes.mayHaveChanged(namesOf(caller), sinceCount);
  }

  /** Answers or throws at once where the cache knows; else with a promise. */
  authenticate(secret: string | undefined): Caller | Promise<Caller> {
    if (secret === undefined || secret === "") throw new GatewayError("ERROR_REASON_KEY_MISSING");
    const nowMs = this.#monotonicMs();
    const entry = this.#entries.get(secret);
    if (entry !== undefined && isFresh(entry.checkedMs, nowMs, ENTRY_TTL_MS))
      return callerNow(entry, secret, this.#nowMs());
    const unknownMs = this.#unknown.get(secret);
    if (unknownMs !== undefined && isFresh(unknownMs, nowMs, UNKNOWN_TTL_MS)) throw invalidKey(secret);
    return this.#lookups.get(secret) ?? this.#startLookup(secret, nowMs);
  }

  /** The account whose key had the secret when it was last looked up here. Nothing is looked up. */
  knownAccount(secret: string): string | undefined {
    const entry = this.#entries.peek(secret);
    if (entry === undefined && shapeOf(secret) === "malformed") return undefined;
    return entry?.standing.caller.accountId ?? this.#accounts.get(this.#nameOf(secret));
  }

  /**
   * Forgets what is known of a key, or of the keys of an account, and all that was not known: a new key may have one of
   * those secrets.
   */
  forget(name: string): void {
    this.#changes.add(name);
    this.#forgetUnknown();
    for (const secret of this.#secretsByName.get(name) ?? []) this.#entries.delete(secret);
  }

  /**
   * Forgets a caller that was found to have changed. It counts as no change: whoever looks it up meanwhile compares
   * what it finds as well, and many that find the same must not undo each other's look-ups.
   */
  forgetCaller(secret: string, caller: Caller): void {
    if (this.#entries.peek(secret)?.standing.caller === caller) this.#entries.delete(secret);
  }

  /** Counts a change of which nobody knows whom it concerns. What is remembered is compared with each request. */
  forgetUnknown(): void {
    this.#changes.add(undefined);
    this.#forgetUnknown();
  }

  #forgetUnknown(): void {
    // Calls from now on must not join a lookup that may have read the key as it was.
    this.#lookups.clear();
    this.#unknown.clear();
  }

  #startLookup(secret: string, nowMs: number): Promise<Caller> {
    const shape = shapeOf(secret);
    if (shape === "ours-mistyped" || shape === "malformed") throw invalidKey(secret);
    if (this.#lookupCount >= LOOKUPS_MAX)
      throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "too many keys are being looked up" });
    this.#sweep(nowMs);
    this.#lookupCount += 1;
    const lookup = this.#lookUp(secret).finally(() => {
      this.#lookupCount -= 1;
      if (this.#lookups.get(secret) === lookup) this.#lookups.delete(secret);
    });
    this.#lookups.set(secret, lookup);
    return lookup;
  }

  async #lookUp(secret: string): Promise<Caller> {
    const changeCount = this.#changes.count;
    const digests = this.#peppers.digestsOf(secret);
    const { row, digest, standing, readMs } = await this.#read(digests, this.#entries.peek(secret)?.standing);
    const entryEndMs = row === undefined ? undefined : secretEndMs(row, digest);
    if (row === undefined || standing === undefined || entryEndMs === undefined) {
      // Any change may have been the one that made its key.
      if (changeCount === this.#changes.count) this.#unknown.set(secret, readMs);
      throw invalidKey(secret);
    }
    const entry: Entry = { standing, endMs: Math.min(entryEndMs, standing.endMs), checkedMs: readMs };
    if (!this.mayHaveChanged(standing.caller, changeCount)) this.#remember(secret, entry);
    if (this.#peppers.isReplaced(digest)) this.#onReplaced(row, digest, secret);
    return callerNow(entry, secret, this.#nowMs());
  }

  /**
   * The key that has one of the digests, and how it stands. Where nodes share, with the revisions under which that may
   * be remembered: they are asked before the row is read, of the key that the secret belonged to just before. Where it
   * belongs to another by now, it is read once more.
   */
  async #read(digests: readonly Buffer[], remembered: Standing | undefined): Promise<Found> {
    for (let known = remembered, count = 1; ; count += 1) {
      const caller = this.#coordination.isShared ? known?.caller : undefined;
      const revisions = caller && (await this.#coordination.revisionsOf(caller.accountId, namesOf(caller)));
      const { row, digest } = await findKey(this.#store.keys, digests);
      const readMs = this.#monotonicMs();
      if (row === undefined) return { row, digest, standing: undefined, readMs };
      const standing = await standingOf(row, this.#store, known);
      // A key's makers and its account never change, so that the same key has the same names.
      const isSameKey = caller?.keyId === row.id;
      if (isSameKey || !this.#coordination.isShared || count === READS_MAX) {
        // Without any it counts as changed wherever it is compared.
        standing.caller.revisions = isSameKey ? revisions : undefined;
        return { row, digest, standing, readMs };
      }
      known = standing;
    }
  }

  #remember(secret: string, entry: Entry): void {
    // First the cache, whose `dispose` may take an older entry of the same secret out of the index.
    this.#entries.set(secret, entry);
    this.#accounts.set(this.#nameOf(secret), entry.standing.caller.accountId);
    for (const name of namesOf(entry.standing.caller)) {
      const secrets = this.#secretsByName.get(name);
      if (secrets === undefined) this.#secretsByName.set(name, new Set([secret]));
      else secrets.add(secret);
    }
  }

  #nameOf(secret: string): string {
    return this.#peppers.digestOf(secret).toString("base64");
  }

  #unlink(standing: Standing, secret: string): void {
    for (const name of namesOf(standing.caller)) {
      const secrets = this.#secretsByName.get(name);
      secrets?.delete(secret);
      if (secrets?.size === 0) this.#secretsByName.delete(name);
    }
  }

  /** Drops what is no longer used, at most once in the time that it may live, so that secrets do not linger. */
  #sweep(nowMs: number): void {
    if (isFresh(this.#sweptMs, nowMs, ENTRY_TTL_MS)) return;
    this.#sweptMs = nowMs;
    // What was just too old is looked up again, and then keeps its caller; so it may stay for the same time once more.
    dropIf(this.#entries, (entry) => !isFresh(entry.checkedMs, nowMs, 2 * ENTRY_TTL_MS));
    dropIf(this.#unknown, (unknownMs) => !isFresh(unknownMs, nowMs, UNKNOWN_TTL_MS));
  }
}

/** The key that has one of the digests, and which; without a key the last of them. */
export async function findKey(
  store: Pick<KeyStore, "findByDigest">,
  digests: readonly Buffer[],
): Promise<{ readonly row: KeyRow | undefined; readonly digest: Buffer }> {
  let digest: Buffer = Buffer.alloc(0);
  for (digest of digests) {
    const row = await store.findByDigest(digest);
    if (row !== undefined) return { row, digest };
  }
  return { row: undefined, digest };
}

/** Collects before it deletes: the cache cannot be changed while it is walked. */
function dropIf<Value extends {}>(cache: LRUCache<string, Value>, isOld: (value: Value) => boolean): void {
  const old: string[] = [];
  for (const [secret, value] of cache.entries()) if (isOld(value)) old.push(secret);
  for (const secret of old) cache.delete(secret);
}

function isFresh(sinceMs: number, nowMs: number, ttlMs: number): boolean {
  return nowMs - sinceMs < ttlMs;
}

/** The time is looked at on each call: an entry may outlive its key. */
function callerNow(entry: Entry, secret: string, nowMs: number): Caller {
  if (entry.standing.revoked) throw new GatewayError("ERROR_REASON_KEY_REVOKED", { key: hintOf(secret) });
  if (nowMs >= entry.endMs)
    throw new GatewayError("ERROR_REASON_KEY_EXPIRED", {
      key: hintOf(secret),
      expired: new Date(entry.endMs).toISOString(),
    });
  return entry.standing.caller;
}

/**
 * Until when a rotation lets the secret of this digest live; undefined where it is none of the row's. The
 * index compares digests in its own time; a pepper that nobody knows makes that tell nothing, and this compares again.
 */
function secretEndMs(row: KeyRow, digest: Uint8Array): number | undefined {
  if (equalInConstantTime(row.digest, digest)) return Infinity;
  if (row.previousDigest === null || !equalInConstantTime(row.previousDigest, digest)) return undefined;
  return row.previousUntilMs ?? 0;
}

function invalidKey(secret: string): GatewayError {
  return new GatewayError("ERROR_REASON_KEY_INVALID", { key: hintOf(secret) });
}
