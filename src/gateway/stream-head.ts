/** When the head of a streamed answer leaves though nothing of the answer is there: its client sees that it waits. */
import type { CallMetadata, Sink } from "../api/channel.js";
import type { StreamGenerateResponse } from "../api/index.js";

/** An upstream's error comes right behind its head, and until then a client can be told it by a status. */
const GRACE_MS = 1_000;
const EMPTY = Buffer.alloc(0);

/**
 * One for each streamed request. The head leaves after `afterMs` without a word; sooner, once the only target that is
 * left has begun its answer. It names no target, since another one may answer, and says what is left out for the one
 * that is asked.
 */
export class StreamHead {
  #hasLeft = false;
  #timer: NodeJS.Timeout | undefined;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly sink: Sink<StreamGenerateResponse>,
    private readonly head: () => CallMetadata,
    private readonly afterMs: number,
  ) {}

  /** The first target is asked. */
  start(): void {
    this.#timer ??= setTimeout(() => this.#leave(), this.afterMs);
  }

  /** The last target that may answer has begun to. */
  begun(): void {
    if (this.#timer !== undefined) this.#graceTimer ??= setTimeout(() => this.#leave(), GRACE_MS);
  }

  /** It is over; another attempt may follow. */
  again(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = undefined;
  }

  /** The answer takes its head along: false where one has left already. */
  take(): boolean {
    this.end();
    return !this.#hasLeft;
  }

  /** No head is needed any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.again();
  }

  #leave(): void {
    this.end();
    this.#hasLeft = true;
    this.sink.head(this.head());
    // A batch of nothing: heads wait for the first one.
    this.sink.data({ events: [], source: EMPTY });
  }
}
