/**
 * A world for the tests of keys: a real store and coordination, a clock that the test drives, and random bytes from a
 * seed.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeySettings } from "../../src/api/index.js";
import { createInProcessCoordination } from "../../src/coordination/in-process.js";
import type { Coordination } from "../../src/coordination/coordination.js";
import { GatewayError } from "../../src/base/errors.js";
import { Keys, type KeysOptions } from "../../src/keys/keys.js";
import type { KeyStore, Store } from "../../src/store/store.js";
import { TEST_ACT, TEST_EVENT } from "../support/acts.js";
import { openTestStore } from "../support/open-test-store.js";

export const START_MS = Date.UTC(2026, 10, 21);
export const ROOT_SECRET = Buffer.from("a root secret of at least 32 characters");
/** A secret that was made elsewhere. */
export const FOREIGN = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";

/** The settings of a key, with those that the test names. */
export function settingsOf(some: Partial<KeySettings> = {}): KeySettings {
  return { ...KeySettings.decode(new Uint8Array()), ...some };
}

/** Random bytes that are the same on each run. */
export function seededBytes(seed: string): (byteCount: number) => Uint8Array {
  let drawn = 0;
  return (byteCount) => {
    const blocks: Buffer[] = [];
    for (let bytes = 0; bytes < byteCount; bytes += 32)
      blocks.push(createHash("sha256").update(`${seed} ${drawn++}`).digest());
    return Buffer.concat(blocks).subarray(0, byteCount);
  };
}

/** Holds those who come to it until it opens. */
export class Gate {
  /** Resolves when somebody waits. */
  readonly reached: Promise<void>;
  readonly #opened: Promise<void>;
  #reach: () => void = () => undefined;
  #open: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => (this.#reach = resolve));
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  pass(): Promise<void> {
    this.#reach();
    return this.#opened;
  }

  open(): void {
    this.#open();
  }
}

/** The real store with a gate behind each lookup by digest, which also counts them. */
export class WatchedKeyStore {
  lookups = 0;
  gate: Gate | undefined;
  /** Runs between the read of a row and its replacement. */
  beforeReplace: (() => Promise<void>) | undefined;
  failing = false;

  watch(store: Store): Store {
    const { keys } = store;
    const watched: KeyStore = {
      create: (row) => keys.create(row, TEST_EVENT),
      get: (id) => keys.get(id),
      list: (accountId, page) => keys.list(accountId, page),
      replace: async (row) => {
        const before = this.beforeReplace;
        this.beforeReplace = undefined;
        await before?.();
        return keys.replace(row, TEST_EVENT);
      },
      findByDigest: async (digest) => {
        this.lookups += 1;
        if (this.failing) throw new GatewayError("ERROR_REASON_LEDGER_UNAVAILABLE");
        const row = await keys.findByDigest(digest);
        await this.gate?.pass();
        return row;
      },
    };
    return { ...store, keys: watched };
  }
}

export interface World {
  readonly store: Store;
  readonly coordination: Coordination;
  readonly watched: WatchedKeyStore;
  /** The time of day, and how much of it is no time that passed, but a clock that was set. */
  readonly clock: { nowMs: number; setByMs: number };
  readonly keys: Keys;
  /** Another node on the same store; `coordination` defaults to the shared one. */
  node(options?: Partial<KeysOptions>): Keys;
  close(): Promise<void>;
}

/** Opens a world with the accounts `acme` and `other`. */
export async function openWorld(options: Partial<KeysOptions> = {}): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-keys-"));
  const store = await openTestStore(directory);
  const clock = { nowMs: START_MS, setByMs: 0 };
  for (const id of ["acme", "other"])
    await store.accounts.create({ id, name: id, createTimeMs: clock.nowMs }, TEST_ACT);
  const coordination = createInProcessCoordination({ nowMs: () => clock.nowMs, heartbeatMs: 0 });
  const watched = new WatchedKeyStore();
  const node = (more: Partial<KeysOptions> = {}) =>
    new Keys({
      store: watched.watch(store),
      coordination,
      rootSecret: ROOT_SECRET,
      nowMs: () => clock.nowMs,
      monotonicMs: () => clock.nowMs - clock.setByMs,
      randomBytes,
      ...options,
      ...more,
    });
  return {
    store,
    coordination,
    watched,
    clock,
    node,
    keys: node(),
    close: async () => {
      await coordination.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The refusal of a call, whether it throws or rejects. Anything else fails the test. */
export async function refusalOf(call: () => unknown): Promise<GatewayError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("expected a refusal");
}
