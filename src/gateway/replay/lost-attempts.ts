/** Attempts that were charged and whose answers did not wait for a retry: the retry pays again, and is told so. */
import { ALONE_MAX, KEPT_MS } from "./bounds.js";

/** In the head of an answer: the earlier attempt of this request, which was charged as well. */
export const LOST_HEADER = "x-tollgate-lost-attempt";

interface Lost {
  readonly requestId: string;
  readonly expiry: NodeJS.Timeout;
}

export class LostAttempts {
  /** By the API key and what was asked, the oldest first. */
  readonly #byAsk = new Map<string, Lost>();

  get size(): number {
    return this.#byAsk.size;
  }

  add(keyId: string, print: Buffer, requestId: string): void {
    const id = nameOf(keyId, print);
    this.#forget(id);
    const [oldest] = this.#byAsk.keys();
    if (this.#byAsk.size >= ALONE_MAX && oldest !== undefined) this.#forget(oldest);
    this.#byAsk.set(id, { requestId, expiry: setTimeout(() => this.#forget(id), KEPT_MS).unref() });
  }

  /** The attempt that asked the same and was lost. One retry is told of it. */
  take(keyId: string, print: Buffer): string | undefined {
    return this.#forget(nameOf(keyId, print));
  }

  #forget(id: string): string | undefined {
    const lost = this.#byAsk.get(id);
    clearTimeout(lost?.expiry);
    this.#byAsk.delete(id);
    return lost?.requestId;
  }
}

function nameOf(keyId: string, print: Buffer): string {
  return `${keyId} ${print.toString("base64")}`;
}
