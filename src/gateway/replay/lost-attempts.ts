/**
 * Attempts that were charged and whose answers were not kept for a retry: the retry pays again, and its answer says so.
 */
import { ALONE_MAX, KEPT_MS } from "./bounds.js";
import { Shares } from "./shares.js";

/** In the head of an answer: the earlier attempt of this request, which was charged as well. */
export const LOST_HEADER = "x-tollgate-lost-attempt";

/** The caller of an attempt. */
export interface Asker {
  readonly keyId: string;
  readonly accountId: string;
}

interface Lost {
  readonly id: string;
  readonly accountId: string;
  readonly requestId: string;
  readonly expiry: NodeJS.Timeout;
}

export class LostAttempts {
  /** By API key and fingerprint of the request. */
  readonly #byAsk = new Map<string, Lost>();
  readonly #shares = new Shares<Lost>(ALONE_MAX);

  get size(): number {
    return this.#byAsk.size;
  }

  add({ keyId, accountId }: Asker, print: Buffer, requestId: string): void {
    const id = nameOf(keyId, print);
    this.#forget(id);
    const expiry = setTimeout(() => this.#forget(id), KEPT_MS).unref();
    const lost = { id, accountId, requestId, expiry };
    this.#byAsk.set(id, lost);
    const oldest = this.#shares.add(accountId, lost);
    if (oldest !== undefined) this.#forget(oldest.id);
  }

  /** The lost attempt with the same request. Only one retry gets it. */
  take(keyId: string, print: Buffer): string | undefined {
    return this.#forget(nameOf(keyId, print));
  }

  #forget(id: string): string | undefined {
    const lost = this.#byAsk.get(id);
    if (lost === undefined) return undefined;
    clearTimeout(lost.expiry);
    this.#byAsk.delete(id);
    this.#shares.delete(lost.accountId, lost);
    return lost.requestId;
  }
}

function nameOf(keyId: string, print: Buffer): string {
  return `${keyId} ${print.toString("base64")}`;
}
