/** Rewrites the digests of the root secret before, each when its key is used, and counts those that are left. */
import type { KeyRow, KeyStore } from "../store/store.js";
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
    const rewritten = this.peppers.digestOf(secret);
    this.change(id, (row) => {
      if (digest.equals(row.digest)) return { ...row, digest: rewritten };
      if (row.previousDigest !== null && digest.equals(row.previousDigest))
        return { ...row, previousDigest: rewritten };
      return row;
    })
      .catch((error: unknown) => this.onError(error, id))
      .finally(() => this.#running.delete(id));
  }

  /** How many keys that can still be used are left; undefined where no digest is to be rewritten. */
  async count(store: Pick<KeyStore, "list">, nowMs: number): Promise<number | undefined> {
    if (!this.peppers.hasPrevious) return undefined;
    let count = 0;
    for (let token = ""; ;) {
      const { rows, nextPageToken } = await store.list({}, { size: PAGE_SIZE, token });
      count += rows.filter((row) => row.revokeTimeMs === null && this.#isLeft(row, nowMs)).length;
      if (nextPageToken === "") return count;
      token = nextPageToken;
    }
  }

  #isLeft({ digest, previousDigest, previousUntilMs }: KeyRow, nowMs: number): boolean {
    if (this.peppers.isPrevious(digest)) return true;
    return previousDigest !== null && (previousUntilMs ?? 0) > nowMs && this.peppers.isPrevious(previousDigest);
  }
}
