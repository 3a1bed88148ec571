/** Rewrites imported digests and those of the root secret before when their keys are used, and finds the keys left. */
import type { KeyRow, KeyStore } from "../store/store.js";
import { findKey } from "./authentication.js";
import type { Peppers } from "./peppers.js";

/** Rewrites at once. A key beyond them is rewritten when it is looked up next. */
const RUNNING_MAX = 16;
const PAGE_SIZE = 1_000;

type Change = (id: string, edit: (row: KeyRow) => KeyRow) => Promise<KeyRow>;

export class Rotation {
  /** The ids of keys. */
  readonly #running = new Set<string>();

  constructor(
    private readonly peppers: Peppers,
    private readonly change: Change,
    private readonly onError: (error: unknown, keyId: string) => void = () => undefined,
  ) {}

  /** Begins to rewrite the digest by which the row was found. The request that found it does not wait. */
  rewrite({ id }: KeyRow, digest: Buffer, secret: string): void {
    if (this.#running.size >= RUNNING_MAX || this.#running.has(id)) return;
    this.#running.add(id);
    void this.rewritten(id, digest, secret).finally(() => this.#running.delete(id));
  }

  /** Rewrites the digest. False where that failed, which is told. Never rejects. */
  async rewritten(id: string, digest: Buffer, secret: string): Promise<boolean> {
    const rewritten = this.peppers.digestOf(secret);
    try {
      await this.change(id, (row) => {
        if (digest.equals(row.digest)) return { ...row, digest: rewritten };
        if (row.previousDigest !== null && digest.equals(row.previousDigest))
          return { ...row, previousDigest: rewritten };
        return row;
      });
      return true;
    } catch (error) {
      this.onError(error, id);
      return false;
    }
  }

  /**
   * The key of a secret that a settings file names. Its digest is rewritten as if the secret had been used: else it
   * would be another key, with budgets of its own, once the root secret before is gone.
   */
  async findNamed(store: KeyStore, secret: string): ReturnType<typeof findKey> {
    const found = await findKey(store, this.peppers.digestsOf(secret));
    const { row, digest } = found;
    if (row === undefined || !this.peppers.isReplaced(digest)) return found;
    const isRewritten = await this.rewritten(row.id, digest, secret);
    return isRewritten ? { row, digest: this.peppers.digestOf(secret) } : found;
  }

  /**
   * The ids of the keys, not revoked, with a secret that the root secret before alone knows, and of those whose secret
   * no root secret of this node knows: nobody can use them.
   */
  async leftBehind(store: Pick<KeyStore, "list">, nowMs: number): Promise<string[]> {
    const ids: string[] = [];
    for (let token = ""; ;) {
      const { rows, nextPageToken } = await store.list({}, { size: PAGE_SIZE, token });
      for (const row of rows) if (row.revokeTimeMs === null && this.#isLeft(row, nowMs)) ids.push(row.id);
      if (nextPageToken === "") return ids;
      token = nextPageToken;
    }
  }

  #isLeft({ digest, previousDigest, previousUntilMs }: KeyRow, nowMs: number): boolean {
    if (!this.peppers.stays(digest)) return true;
    return previousDigest !== null && (previousUntilMs ?? 0) > nowMs && this.peppers.isPrevious(previousDigest);
  }
}
