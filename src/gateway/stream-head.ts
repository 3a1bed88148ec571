/** Decides when the head of a stream is sent before any of its answer, so that the client sees that it waits. */
import type { CallMetadata, Sink } from "../api/channel.js";
import type { StreamGenerateResponse } from "../api/index.js";

/**
 * An upstream's error follows right after its head; until this time has passed, the client can still get it as a
 * status.
 */
const GRACE_MS = 1_000;
const EMPTY = Buffer.alloc(0);

/**
 * One for each streamed request. The head is sent after `afterMs` without output, or sooner once the only remaining
 * target has begun its answer. It names no target, since another one may answer, and lists the parameters that the
 * current one does not take.
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

  /** Call when a target is called. Only the first call of a model counts. */
  start(): void {
    if (!this.#hasLeft) this.#timer ??= setTimeout(() => this.#leave(), this.afterMs);
  }

  /** Call when the last target that may answer has sent its head. */
  begun(): void {
    if (this.#timer !== undefined) this.#graceTimer ??= setTimeout(() => this.#leave(), GRACE_MS);
  }

  /** Call when that attempt has ended; another attempt may follow. */
  again(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = undefined;
  }

  /** Call when the answer brings its own head. False if a head was sent already. */
  take(): boolean {
    this.end();
    return !this.#hasLeft;
  }

  /** Call when no head is needed any more. */
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
