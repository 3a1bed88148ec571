/**
 * What of an attempt's answer is held back: its opening, so that a target that fails there can be left for another, or
 * all of it, where the target answers as a stream alone and the caller wants the answer whole.
 */
import { GatheredBytes } from "../base/bytes/gathered-bytes.js";
import type { Event } from "../api/index.js";
import type { Batch } from "../wire/wire.js";
import type { GatheredSteps } from "./gathered-steps.js";

/** Openings and pings are far below this; what is more than this goes out whatever it is. */
const KEPT_BYTES_MAX = 64 * 1024;
const KEPT_EVENTS_MAX = 64;
const NO_BYTES = Buffer.alloc(0);

export class HeldBack {
  readonly #events: Event[] = [];
  readonly #sources = new GatheredBytes();

  /** With `gathered` all of it is held back, there. It is never longer than an answer may be. */
  constructor(private readonly gathered?: GatheredSteps) {}

  /** The batch with all that was held back before it; undefined where it is held back too. */
  take(batch: Batch): Batch | undefined {
    if (this.gathered !== undefined) {
      this.gathered.add(batch.events);
      return undefined;
    }
    // An error before anything went out is the attempt's, and not told as a part of the answer.
    if (batch.error !== undefined || (!batch.visible && this.#keep(batch))) return undefined;
    return this.#before(batch);
  }

  /** The answer is whole, and nothing of it went out: this is the answer. Undefined where there is none. */
  end(): Batch | Promise<Batch> | undefined {
    if (this.gathered !== undefined) return this.gathered.whole();
    if (this.#events.length + this.#sources.length === 0) return undefined;
    return this.#before({ events: [], source: NO_BYTES, visible: true, error: undefined });
  }

  /** False where there is no room. */
  #keep({ events, source }: Batch): boolean {
    const isFull =
      this.#sources.length + source.length > KEPT_BYTES_MAX || this.#events.length + events.length > KEPT_EVENTS_MAX;
    if (isFull) return false;
    for (const event of events) this.#events.push(event);
    if (source.length > 0) this.#sources.add(source);
    return true;
  }

  #before(batch: Batch): Batch {
    if (this.#events.length + this.#sources.length === 0) return batch;
    const { error, embeddings } = batch;
    const events = [...this.#events, ...batch.events];
    const source = this.#sources.length === 0 ? batch.source : Buffer.concat([this.#sources.take(), batch.source]);
    return { events, source, visible: true, error, embeddings };
  }
}
