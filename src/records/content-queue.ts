/** Content of ended requests that waits for the thread that redacts and stores it. */
import type { GatheredContent } from "./content-tap.js";
import type { EndedRequest } from "./request-record.js";

/** What waits together at most. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;

/** What the content of a request takes beside its bodies. */
const ENTRY_BYTES = 1_024;

export class ContentQueue {
  #waiting: GatheredContent[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** False where there is no more room. */
  add(request: EndedRequest): boolean {
    const { id, asker, endTimeMs, format, content } = request;
    if (content === undefined || asker === undefined) return true;
    if (this.#bytes >= WAITING_BYTES_MAX) return false;
    const { accountId } = asker;
    const { endUser } = request.attributes();
    const gathered = { id, accountId, endUser, endTimeMs, format, ...content.gathered() };
    this.#waiting.push(gathered);
    this.#bytes += ENTRY_BYTES + bytesOf(gathered.request) + bytesOf(gathered.answer);
    return true;
  }

  take(): readonly GatheredContent[] {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    return taken;
  }
}

/** A text may be kept in two bytes a character. */
function bytesOf(body: Uint8Array | string): number {
  return typeof body === "string" ? 2 * body.length : body.length;
}
