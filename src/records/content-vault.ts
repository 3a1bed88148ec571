/** Keeps content of requests: redacted, bounded for each account, and sealed with a key of the account's own. */
import { randomBytes } from "node:crypto";
import { SecretSeal } from "../alerts/seal.js";
import type { ContentRow, ContentStore } from "./content-store.js";
import { redacted, type Redacted } from "./content-rules.js";
import { TOTAL_BYTES_DEFAULT } from "../base/account-bounds.js";
import type { GatheredContent } from "./content-tap.js";

const KEY_BYTES = 32;
/** Keys of accounts that are in memory. */
const KEYS_MAX = 10_000;
/** How many go in one transaction. */
const FORGOTTEN_AT_ONCE = 500;

/** What was kept of a request. */
export interface KeptContent extends Redacted {
  readonly id: string;
  readonly accountId: string;
  readonly endTimeMs: number;
  readonly format: string;
}

export class ContentVault {
  readonly #seals = new Map<string, SecretSeal>();
  /** What accounts have, as far as it was looked at since the last sweep: other nodes add to it too. */
  readonly #bytes = new Map<string, number>();

  /** `root` seals the accounts' keys. */
  constructor(
    private readonly store: ContentStore,
    private readonly root: SecretSeal,
  ) {}

  /** Seals anew what needs a root secret that will be gone. */
  async sealAnew(): Promise<void> {
    if (!this.root.hasPrevious) return;
    for (const key of await this.store.keys()) {
      const sealed = this.root.sealAnew(ownerOf(key.accountId), key.sealed);
      if (sealed !== undefined) await this.store.resealKey({ accountId: key.accountId, sealed }, key.sealed);
    }
  }

  async keep(contents: readonly GatheredContent[]): Promise<void> {
    const rows: ContentRow[] = [];
    for (const content of contents) {
      const { id, accountId, endUser, endTimeMs, format } = content;
      const seal = await this.#sealOf(accountId);
      const kept = JSON.stringify({ format, ...redacted(content) });
      rows.push({ id, accountId, endUser, endTimeMs, sealed: seal.seal(id, kept) });
    }
    await this.store.put(rows);
    const settings = new Map(contents.map((content) => [content.accountId, content.settings]));
    for (const [accountId, { totalBytesMax }] of settings) {
      const added = rows.reduce((sum, row) => sum + (row.accountId === accountId ? row.sealed.length : 0), 0);
      await this.#bound(accountId, added, Number(totalBytesMax) || TOTAL_BYTES_DEFAULT);
    }
  }

  /** Undefined where nothing is kept of it, or not any more. */
  async find(id: string): Promise<KeptContent | undefined> {
    const row = await this.store.find(id);
    if (row === undefined) return undefined;
    const text = (await this.#sealOf(row.accountId)).open(id, row.sealed);
    if (text === undefined) throw new Error("kept content cannot be opened with its account's key");
    // What stands there is what `keep` wrote.
    const kept = JSON.parse(text) as Redacted & { format: string };
    return { ...kept, id, accountId: row.accountId, endTimeMs: row.endTimeMs };
  }

  erase(accountId: string | undefined, endUser: string): Promise<number> {
    this.#bytes.clear();
    return this.store.erase(accountId, endUser);
  }

  /** Forgets what was kept of these requests, and says how many that were. */
  eraseOf(ids: readonly string[]): Promise<number> {
    this.#bytes.clear();
    return this.store.eraseOf(ids);
  }

  /** Forgets some of what ended before. False where there is no more. */
  async sweepOne(beforeMs: number): Promise<boolean> {
    this.#bytes.clear();
    return (await this.store.forgetBefore(beforeMs, FORGOTTEN_AT_ONCE)) > 0;
  }

  close(): Promise<void> {
    return this.store.close();
  }

  /** The oldest of an account goes first. */
  async #bound(accountId: string, added: number, most: number): Promise<void> {
    const known = this.#bytes.get(accountId);
    let bytes = known === undefined ? await this.store.bytesOf(accountId) : known + added;
    // One that is larger than all that may be kept goes too.
    for (let at = 1; bytes > most; at = Math.min(at * 2, FORGOTTEN_AT_ONCE)) {
      const gone = await this.store.forgetOldest(accountId, at);
      if (gone === 0) break;
      bytes -= gone;
    }
    this.#bytes.set(accountId, bytes);
  }

  async #sealOf(accountId: string): Promise<SecretSeal> {
    const known = this.#seals.get(accountId);
    if (known !== undefined) return known;
    const owner = ownerOf(accountId);
    if ((await this.store.key(accountId)) === undefined) {
      const sealed = this.root.seal(owner, randomBytes(KEY_BYTES).toString("base64"));
      await this.store.putKey({ accountId, sealed });
    }
    // Another node's may have been first.
    const secret = this.root.open(owner, (await this.store.key(accountId)) ?? new Uint8Array());
    if (secret === undefined) throw new Error("an account's key of content was sealed under another root secret");
    const seal = new SecretSeal({ keys: [Buffer.from(secret, "base64")] });
    if (this.#seals.size >= KEYS_MAX) this.#seals.clear();
    this.#seals.set(accountId, seal);
    return seal;
  }
}

function ownerOf(accountId: string): string {
  return `content of ${accountId}`;
}
