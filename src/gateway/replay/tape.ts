/** A recording of an answer, and its readers: each reads from the first message, at its own pace. */
import type { CancelSignal } from "../../base/cancellation.js";
import type { CallMetadata, Sink } from "../../api/channel.js";
import { GatewayError } from "../../base/errors.js";
import type { BytePool, Pooled } from "../../base/bytes/byte-pool.js";
import { OwnCopies } from "../../base/bytes/own-copies.js";
import type { Ask } from "./ask.js";
import { ANSWER_BYTES_MAX } from "./bounds.js";
import { Follower } from "./follower.js";

/** How far readers may fall behind if nothing is kept for later ones. */
const BEHIND_BYTES_MAX = 1_048_576;
/** The overhead of a message beside its bytes. */
const MESSAGE_BYTES = 192;
const NO_BYTES = Buffer.alloc(0);

export interface TapeOptions<Message> {
  /** The account of the answer. */
  readonly accountId: string;
  readonly bytesOf: (message: Message) => Buffer;
  readonly messageOf: (bytes: Buffer) => Message;
  /** The highest size of one answer. */
  readonly bytesMax: number;
  /** The memory of all tapes together. */
  readonly pool: BytePool;
}

/** One message: as it arrived until all readers have it, and as bytes for later readers. */
interface Recorded<Message> {
  message: Message | undefined;
  readonly bytes: Buffer;
  readonly size: number;
}

/** A tape for the answer to a request. */
export function tapeOf(ask: Ask<unknown, unknown>, accountId: string, pool: BytePool): Tape<unknown> {
  return new Tape({
    accountId,
    bytesOf: (message) => ask.bytesOf(message),
    messageOf: (bytes) => ask.messageOf(bytes),
    bytesMax: ANSWER_BYTES_MAX,
    pool,
  });
}

/** How an answer ended: complete, or with an error. */
export interface TapeEnd {
  readonly error: GatewayError | undefined;
  /** True if a reader read it to its end while it arrived. */
  readonly told: boolean;
}

export class Tape<Message> implements Sink<Message>, Pooled {
  #headers: CallMetadata | undefined;
  #messages: Recorded<Message>[] = [];
  readonly #copies = new OwnCopies();
  /** How many messages all readers have read, so that only their bytes are kept. */
  #compacted = 0;
  /** How many messages were dropped, from the first one on. */
  #forgotten = 0;
  #bytes = 0;
  #isWhole = true;
  /** True once `data` asked the producer to pause. */
  #paused = false;
  #end: TapeEnd | undefined;
  #onDrain: (() => void) | undefined;
  readonly #followers = new Set<Follower<Message>>();
  /** Called when it is no longer complete. */
  onSpill: (() => void) | undefined;

  constructor(private readonly options: TapeOptions<Message>) {}

  get accountId(): string {
    return this.options.accountId;
  }

  /** The headers of the answer; undefined before it began. */
  get headers(): CallMetadata | undefined {
    return this.#headers;
  }

  get end(): TapeEnd | undefined {
    return this.#end;
  }

  /** False if it exceeded its bounds, so that only its current readers can continue. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get followerCount(): number {
    return this.#followers.size;
  }

  /** The number of messages so far, dropped ones included. */
  get length(): number {
    return this.#forgotten + this.#messages.length;
  }

  at(index: number): Message | undefined {
    const recorded = this.#messages[index - this.#forgotten];
    return recorded && (recorded.message ?? this.options.messageOf(recorded.bytes));
  }

  /** All messages as bytes. Only for a complete tape. */
  messageBytes(): readonly Buffer[] {
    return this.#messages.map(({ bytes }) => bytes);
  }

  head(metadata: CallMetadata): void {
    if (this.#headers !== undefined) return;
    this.#headers = metadata;
    this.#wake();
  }

  data(message: Message): boolean {
    this.#headers ??= {};
    const told = this.options.bytesOf(message);
    const size = told.length + MESSAGE_BYTES;
    if (this.#isWhole && (this.#bytes + size > this.options.bytesMax || !this.options.pool.take(this, size)))
      this.#spill();
    this.#messages.push({ message, bytes: this.#isWhole ? this.#copies.copy(told) : NO_BYTES, size });
    this.#bytes += size;
    this.#wake();
    this.#paused = !this.#isWhole && this.#bytes >= BEHIND_BYTES_MAX;
    return !this.#paused;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /** Ends the tape: no message follows. */
  close(error?: GatewayError): void {
    if (this.#end !== undefined) return;
    this.#end = { error, told: this.#followers.size > 0 };
    this.#wake();
  }

  /** Drops everything. Current readers continue with what they have not read, and no new reader can begin. */
  release(): void {
    if (this.#isWhole) this.#spill();
  }

  /**
   * Reads everything into the sink. Resolves when the answer is complete; rejects with the error that ended it, or with
   * the signal's reason. Throws if the tape is no longer complete.
   */
  async follow(sink: Sink<Message>, signal: CancelSignal, skip = 0): Promise<void> {
    if (!this.#isWhole) throw new Error("the tape is not whole");
    if (signal.aborted) throw signal.reason;
    const follower = new Follower(this, sink, skip, () => this.#trim());
    this.#followers.add(follower);
    const leave = (): void => follower.leave(GatewayError.from(signal.reason));
    signal.addEventListener("abort", leave, { once: true });
    try {
      await follower.run();
    } finally {
      signal.removeEventListener("abort", leave);
      this.#followers.delete(follower);
      this.#trim();
    }
  }

  #wake(): void {
    for (const follower of this.#followers) follower.pump();
    this.#trim();
  }

  #spill(): void {
    this.#isWhole = false;
    this.options.pool.give(this, this.#bytes);
    this.#trim();
    this.onSpill?.();
  }

  /** Drops what all readers have read, except its bytes if later readers may come. */
  #trim(): void {
    let least = this.length;
    for (const follower of this.#followers) least = Math.min(least, follower.position);
    if (this.#isWhole) return this.#compact(least);
    const read = this.#messages.splice(0, least - this.#forgotten);
    this.#forgotten += read.length;
    for (const { size } of read) this.#bytes -= size;
    if (!this.#paused || this.#bytes >= BEHIND_BYTES_MAX) return;
    this.#paused = false;
    this.#onDrain?.();
  }

  /** Nothing is dropped from a complete tape, so positions count from its first message. */
  #compact(end: number): void {
    for (; this.#compacted < end; this.#compacted += 1) {
      const recorded = this.#messages[this.#compacted];
      if (recorded !== undefined) recorded.message = undefined;
    }
  }
}
