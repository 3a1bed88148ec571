/** The keys of all accounts: who calls, and how keys are made, changed and ended. */
import { invalid, requireEtag } from "../api/check.js";
import { type Key, KeySettings } from "../api/index.js";
import { type Act, gatewayAct } from "../audit/act.js";
import { CallerChanged, type Coordination, NO_REVISIONS } from "../coordination/coordination.js";
import { GatewayError } from "../base/errors.js";
import type { KeyFilter, KeyRow, Page, PageRequest, Store } from "../store/store.js";
import { Authentication, findKey } from "./authentication.js";
import type { Caller } from "./caller.js";
import { ChangePublisher } from "./change-publisher.js";
import { type Change, changeOf, type Ending, endingOf } from "./endings.js";
import type { CreateKeyParams } from "./grant.js";
import type { ImportedSecret } from "./imported-secret.js";
import { keyOf } from "./key-caller.js";
import { revokedForGood, type SeededKey } from "./file-keys.js";
import { keyEvent } from "./key-event.js";
import { hiddenId, makeKeyId } from "./key-id.js";
import { maskedSettings, type UpdateTerms } from "./key-settings.js";
import { rowOfKey } from "./new-row.js";
import { notMade } from "./not-made.js";
import { searchable } from "./searchable.js";
import { ACCOUNT, makerIdsOf, requireAlive, standingOf } from "./standing.js";
import { Peppers, type RootSecrets } from "./peppers.js";
import { Rotation } from "./rotation.js";
import { Watches } from "./watches.js";
import type { CancelSignal } from "../base/cancellation.js";
import { hintOf, makeSecret, type RandomBytes, requireImportable } from "./secret.js";

export interface KeysOptions extends RootSecrets {
  readonly store: Store;
  readonly coordination: Coordination;
  readonly nowMs: () => number;
  /** The clock of durations. Default: the process's own. */
  readonly monotonicMs?: (() => number) | undefined;
  readonly randomBytes: RandomBytes;
  /** Makes the whole id of a key. Default: `key_` and characters that sort by time. */
  readonly makeId?: (() => string) | undefined;
  /** The most secrets that are remembered, of keys and of none each. Default: 10,000. */
  readonly cacheEntriesMax?: number | undefined;
  /** Hears that other nodes could not be told of a change, which then holds there within 30 seconds. */
  readonly onPublishError?: ((error: unknown, name: string) => void) | undefined;
  /** Hears that the digest of a key could not be rewritten, which its next use tries again. */
  readonly onRewriteError?: ((error: unknown, keyId: string) => void) | undefined;
}

/** A key with its secret, which is shown this once. */
export interface KeyWithSecret {
  readonly key: Key;
  readonly secret: string;
}

/** A page of keys, newest first. */
export interface KeyPage {
  readonly keys: Key[];
  readonly nextPageToken: string;
}

const CACHE_ENTRIES_MAX = 10_000;
const GRACE_SECONDS_MAX = 30 * 24 * 3600;
/** A change is tried so often against other changes of the same key. */
const CHANGE_TRIES_MAX = 8;

/** All methods but `authenticate` are for management: they ask the store. Who may do what to a key is `grant.ts`'s. */
export class Keys {
  readonly #store: Store;
  readonly #coordination: Coordination;
  readonly #peppers: Peppers;
  readonly #rotation: Rotation;
  readonly #nowMs: () => number;
  readonly #randomBytes: RandomBytes;
  readonly #makeId: () => string;
  readonly #publisher: ChangePublisher;
  readonly #authentication: Authentication;
  readonly #changeCallbacks: ((change: Change) => void)[] = [];
  readonly #watches: Watches;

  constructor(options: KeysOptions) {
    this.#store = options.store;
    this.#coordination = options.coordination;
    this.#peppers = new Peppers(options);
    this.#rotation = new Rotation(
      this.#peppers,
      (id, edit) => this.#change(id, gatewayAct("secret.rewrite", this.#timeMs()), edit),
      options.onRewriteError,
    );
    this.#nowMs = options.nowMs;
    this.#randomBytes = options.randomBytes;
    this.#makeId = options.makeId ?? (() => makeKeyId(options.nowMs(), options.randomBytes));
    this.#publisher = new ChangePublisher(options.coordination, options.onPublishError);
    this.#authentication = new Authentication({
      store: options.store,
      coordination: options.coordination,
      peppers: this.#peppers,
      onReplaced: (row, digest, secret) => this.#rotation.rewrite(row, digest, secret),
      nowMs: options.nowMs,
      monotonicMs: options.monotonicMs ?? (() => performance.now()),
      cacheEntriesMax: options.cacheEntriesMax ?? CACHE_ENTRIES_MAX,
    });
    this.#watches = new Watches(options.store, options.nowMs);
    this.onChange((change) => this.#watches.changed(change));
    options.coordination.onRevision((name) => {
      const change = changeOf(name);
      if (name === undefined) this.#authentication.forgetUnknown();
      else if (!("userId" in change)) this.#authentication.forget(name);
      for (const callback of this.#changeCallbacks) callback(change);
    });
  }

  /** Secrets that are remembered, for a gauge. */
  get cachedCount(): number {
    return this.#authentication.cachedCount;
  }

  /** Counts the changes of keys and accounts that this node heard of: what was looked up before one may be old. */
  get changeCount(): number {
    return this.#authentication.changeCount;
  }

  /** True where its key, a maker of it or its account may have changed since there had been so many changes. */
  mayHaveChanged(caller: Caller, sinceCount: number): boolean {
    return this.#authentication.mayHaveChanged(caller, sinceCount);
  }

  /**
   * The caller with this secret: at once where it is remembered, else as a promise. Throws or rejects with KEY_MISSING,
   * KEY_INVALID, KEY_EXPIRED or KEY_REVOKED; OVERLOADED where too many are looked up; LEDGER_UNAVAILABLE where the
   * store cannot be asked.
   */
  authenticate(secret: string | undefined): Caller | Promise<Caller> {
    return this.#authentication.authenticate(secret);
  }

  /** The account of a secret that is remembered. Nothing is looked up, and nothing proved. */
  readonly knownAccount = (secret: string): string | undefined => this.#authentication.knownAccount(secret);

  /** True where other nodes change keys too: what is remembered of a caller is compared before it is used. */
  get isShared(): boolean {
    return this.#coordination.isShared;
  }

  /** False where the caller changed since it was remembered. */
  async isCurrent({ accountId, revisions = NO_REVISIONS }: Caller): Promise<boolean> {
    try {
      await this.#coordination.peek({ requestId: "", accountId, revisions, demands: [] });
      return true;
    } catch (error) {
      if (error instanceof CallerChanged) return false;
      throw error;
    }
  }

  /** Forgets this caller, which changed, where it is still the one that is remembered of the secret. */
  forget(secret: string | undefined, caller: Caller): void {
    if (secret !== undefined) this.#authentication.forgetCaller(secret, caller);
  }

  /**
   * Makes a key, or imports the secret of one. Refuses with RESOURCE_UNKNOWN without such an account,
   * PARAMETER_INVALID, and ALREADY_EXISTS where a key has or had the secret.
   */
  async create(params: CreateKeyParams, act: Act): Promise<KeyWithSecret> {
    if (params.imported !== undefined) return { key: await this.#import(params, params.imported, act), secret: "" };
    const secret = params.secret === undefined || params.secret === "" ? makeSecret(this.#randomBytes) : params.secret;
    const row = this.newRow(params, secret);
    await this.#requireAccount(params.accountId);
    // The store knows current digests to be unique; a secret that was rotated away was given up for a reason.
    const { row: taken } = await this.#find(secret);
    const isMade = taken === undefined && (await this.#store.keys.create(row, keyEvent(act, undefined, row)));
    if (!isMade) throw notMade(row, taken ?? (await this.#find(secret)).row);
    await this.#publish(row);
    return { key: keyOf(row), secret };
  }

  /** A key with a secret that only its client knows. */
  async #import(params: CreateKeyParams, imported: ImportedSecret, act: Act): Promise<Key> {
    const row = rowOfKey(params, imported, this.#timeMs());
    await this.#requireAccount(params.accountId);
    const isMade = await this.#store.keys.create(row, keyEvent(act, undefined, row));
    if (!isMade) throw notMade(row, await this.#store.keys.get(row.id));
    await this.#publish(row);
    return keyOf(row);
  }

  /** Makes a key whose secret nobody learns, and which no list shows. */
  async createHidden(params: CreateKeyParams): Promise<Key> {
    const row = this.newRow(params, makeSecret(this.#randomBytes), hiddenId(this.#makeId()));
    await this.#requireAccount(params.accountId);
    await this.#store.keys.create(row, keyEvent(gatewayAct("playground", this.#timeMs()), undefined, row));
    return keyOf(row);
  }

  /** Who a hidden key lets in. */
  async hiddenCaller(id: string): Promise<Caller> {
    for (let count = 0; count < CHANGE_TRIES_MAX; count++) {
      const { changeCount } = this;
      const { accountId } = await this.#row(id);
      // As where a secret is looked up: the words first, and then what they stand for.
      const names = [`${ACCOUNT}${accountId}`, id];
      const revisions = this.isShared ? await this.#coordination.revisionsOf(accountId, names) : undefined;
      const { caller } = await standingOf(await this.#row(id), this.#store);
      caller.revisions = revisions;
      if (!this.mayHaveChanged(caller, changeCount)) return caller;
    }
    throw new CallerChanged();
  }

  /** One key. Refuses with RESOURCE_UNKNOWN. */
  async get(id: string): Promise<Key> {
    return keyOf(await this.#row(id));
  }

  /** Those that made the key: its maker, that one's, and so on. */
  makersOf(id: string): Promise<readonly string[]> {
    return makerIdsOf(id, this.#store.keys);
  }

  /** The keys that the filter names; with hidden ones, unless it leaves them out. */
  async list(filter: KeyFilter, page: PageRequest): Promise<KeyPage> {
    const { rows, nextPageToken } = await this.#store.keys.list(filter, page);
    return { keys: rows.map(keyOf), nextPageToken };
  }

  /**
   * Changes the settings that the mask names, such as `requests_per_minute`. A revoked key is not changed any more, and
   * one that has another etag than the given one rejects with ETAG_STALE.
   */
  async update(
    id: string,
    settings: KeySettings | undefined,
    mask: readonly string[],
    { act, permit, etag = "" }: UpdateTerms,
  ): Promise<Key> {
    const row = await this.#change(id, act, (row) => {
      requireAlive(row);
      const changed = maskedSettings(KeySettings.decode(row.settings), settings, mask);
      permit?.(keyOf(row), changed);
      // Who may not see the key does not learn from an etag that there is one.
      requireEtag(etag, keyOf(row).etag, "key", id);
      return { ...row, settings: KeySettings.encode(changed).finish() };
    });
    return keyOf(row);
  }

  /** Ends a key for good. Repeating it changes nothing. */
  async revoke(id: string, act: Act): Promise<Key> {
    return keyOf(await this.#change(id, act, (row) => revokedForGood(row, this.#timeMs())));
  }

  /**
   * The ids of keys, not revoked, that end with the root secret before, or have ended with one that is gone. Reads all
   * keys.
   */
  leftBehind(): Promise<readonly string[]> {
    return this.#rotation.leftBehind(this.#store.keys, this.#nowMs());
  }

  /** Calls back for each key and each account that changed, on whatever node. */
  onChange(callback: (change: Change) => void): void {
    this.#changeCallbacks.push(callback);
  }

  /** What the caller's running requests end with, as things stand now, and when. */
  endingOf(caller: Caller): Promise<Ending> {
    return endingOf(caller, this.#store, this.#nowMs());
  }

  /** Rejects once the caller may begin requests no more, with the refusal of the next one, or as the signal says. */
  watch(caller: Caller, signal: CancelSignal): Promise<void> {
    return this.#watches.watch(caller, signal);
  }

  // What these three tell every node; none of them ever rejects.
  /** That an account was frozen or unfrozen, or that its limits changed. */
  readonly publishAccount = (accountId: string): Promise<void> => this.#publisher.publishAccount(accountId);
  /** That sessions of a person ended. */
  readonly publishUser = (userId: string): Promise<void> => this.#publisher.publishUser(userId);
  /** That a person may do something else now, and so do the keys that the person made. */
  readonly publishRights = (userId: string): Promise<void> => this.#publisher.publishRights(userId, this.#store.people);

  /** True where other nodes may not know the last change of the key for up to 30 seconds. */
  isPending(keyId: string): boolean {
    return this.#publisher.isPending(keyId);
  }

  /** As `isPending`, of an account. */
  isAccountPending(accountId: string): boolean {
    return this.#publisher.isPending(`${ACCOUNT}${accountId}`);
  }

  /** Gives a key a new secret. The old one lives on for the grace, and the one before it ends now. */
  async rotate(
    id: string,
    graceSeconds: number,
    act: Act,
    permit: (key: Key) => void = () => undefined,
  ): Promise<KeyWithSecret> {
    if (!Number.isInteger(graceSeconds) || graceSeconds < 0 || graceSeconds > GRACE_SECONDS_MAX)
      throw invalid("grace_seconds", `must be a whole number from 0 to ${GRACE_SECONDS_MAX}`);
    const secret = makeSecret(this.#randomBytes);
    const row = await this.#change(id, act, (row) => {
      requireAlive(row);
      permit(keyOf(row));
      return {
        ...row,
        digest: this.#peppers.digestOf(secret),
        hint: hintOf(secret),
        previousDigest: row.digest,
        previousUntilMs: this.#timeMs() + graceSeconds * 1000,
      };
    });
    return { key: keyOf(row), secret };
  }

  /** The row of a new key, which is not stored yet. Throws PARAMETER_INVALID. */
  newRow(params: CreateKeyParams, secret: string, id = this.#makeId()): KeyRow {
    requireImportable(secret);
    return rowOfKey(params, { id, digest: this.#peppers.digestOf(secret), hint: hintOf(secret) }, this.#timeMs());
  }

  /** The row of a settings file's key, and the one that has its secret already: both have one digest. */
  async seedRow(params: CreateKeyParams, secret: string): Promise<SeededKey> {
    const row = this.newRow(params, secret);
    const { row: found, digest } = await this.#rotation.findNamed(this.#store.keys, secret);
    return found === undefined ? { row, found } : { row: { ...row, digest }, found };
  }

  /** The keys that a settings file manages, and those that it disabled. */
  rowsOfFile(page: PageRequest): Promise<Page<KeyRow>> {
    return this.#store.keys.list({ isOfFile: true }, page);
  }

  /** Tells every node of a row that was written beside its account. Never rejects. */
  readonly publish = async (row: KeyRow): Promise<void> => this.#publish(row);

  /**
   * Makes the key of a settings file once. An existing key with the secret stays as it is, revoked or changed, whosever
   * it is.
   */
  async ensureSeed(
    seed: { accountId: string; secret: string; settings: KeySettings | undefined },
    act: Act,
  ): Promise<Key> {
    const { row: found } = await this.#rotation.findNamed(this.#store.keys, seed.secret);
    if (found !== undefined) return keyOf(found);
    try {
      return (await this.create(seed, act)).key;
    } catch (error) {
      // Another node may have made it since.
      const { row: made } = await this.#find(seed.secret);
      if (made !== undefined) return keyOf(made);
      throw error;
    }
  }

  /** What is stored are whole milliseconds. */
  readonly #timeMs = (): number => Math.floor(this.#nowMs());

  #find(secret: string): ReturnType<typeof findKey> {
    return findKey(this.#store.keys, this.#peppers.digestsOf(secret));
  }

  async #requireAccount(id: string): Promise<void> {
    if ((await this.#store.accounts.get(id)) === undefined)
      throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "account", id });
  }

  async #row(id: string): Promise<KeyRow> {
    const row = await this.#store.keys.get(id);
    if (row === undefined) throw new GatewayError("ERROR_REASON_RESOURCE_UNKNOWN", { kind: "key", id });
    return row;
  }

  /**
   * Writes what `edit` makes of the row, again where another change came first; the same row back means nothing to do.
   */
  async #change(id: string, act: Act, edit: (row: KeyRow) => KeyRow): Promise<KeyRow> {
    for (let count = 0; count < CHANGE_TRIES_MAX; count++) {
      const row = await this.#row(id);
      const edited = edit(row);
      if (edited === row) {
        // Whoever made the change may have died before the nodes were told.
        await this.#publish(row);
        return row;
      }
      const next = searchable({ ...edited, revision: row.revision + 1 });
      if (await this.#store.keys.replace(next, keyEvent(act, row, next))) {
        await this.#publish(next);
        return next;
      }
    }
    throw new GatewayError("ERROR_REASON_OVERLOADED", { problem: "others are changing the same key" });
  }

  /** Only after the commit: a node that hears of a change asks the store and must find it there. */
  async #publish(row: KeyRow): Promise<void> {
    this.#authentication.forget(row.id);
    await this.#publisher.publish(row.accountId, row.id);
  }
}
