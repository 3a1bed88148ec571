/** An answer as it is recorded, and everyone who reads it: each from its first message, at its own pace. */
import type { CancelSignal } from "../../api/cancellation.js";
import type { CallMetadata, Sink } from "../../api/channel.js";
import { GatewayError } from "../../errors.js";
import type { BytePool, Pooled } from "../../api/byte-pool.js";
import { OwnCopies } from "../../api/own-copies.js";
import type { Ask } from "./ask.js";
import { ANSWER_BYTES_MAX } from "./bounds.js";
import { Follower } from "./follower.js";

/** What readers may be behind where nothing is kept for later ones. */
const BEHIND_BYTES_MAX = 1_048_576;
/** What a message takes beside its bytes. */
const MESSAGE_BYTES = 192;
const NO_BYTES = Buffer.alloc(0);

export interface TapeOptions<Message> {
  /** Whose answer it is. */
  readonly accountId: string;
  readonly bytesOf: (message: Message) => Buffer;
  readonly messageOf: (bytes: Buffer) => Message;
  /** The most that one answer may take. */
  readonly bytesMax: number;
  /** What all tapes take together. */
  readonly pool: BytePool;
}

/** One message: as it came until all who read have it, and as bytes for those who come later. */
interface Recorded<Message> {
  message: Message | undefined;
  readonly bytes: Buffer;
  readonly size: number;
}

/** A tape of what is answered to a question. */
export function tapeOf(ask: Ask<unknown, unknown>, accountId: string, pool: BytePool): Tape<unknown> {
  return new Tape({
    accountId,
    bytesOf: (message) => ask.bytesOf(message),
    messageOf: (bytes) => ask.messageOf(bytes),
    bytesMax: ANSWER_BYTES_MAX,
    pool,
  });
}

/** How an answer ended: well, or with a refusal. */
export interface TapeEnd {
  readonly error: GatewayError | undefined;
  /** True where somebody read it to its end as it came. */
  readonly told: boolean;
}

export class Tape<Message> implements Sink<Message>, Pooled {
  #headers: CallMetadata | undefined;
  #messages: Recorded<Message>[] = [];
  readonly #copies = new OwnCopies();
  /** So many messages were read by all, and are kept as bytes alone. */
  #compacted = 0;
  /** Messages that were forgotten, from the first on. */
  #forgotten = 0;
  #bytes = 0;
  #isWhole = true;
  /** True once `data` said to push no more. */
  #paused = false;
  #end: TapeEnd | undefined;
  #onDrain: (() => void) | undefined;
  readonly #followers = new Set<Follower<Message>>();
  /** Called when it stops being whole. */
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

  /** False where it grew over its bounds, so that only those who read it already can go on. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get followerCount(): number {
    return this.#followers.size;
  }

  /** The number of messages so far, forgotten ones included. */
  get length(): number {
    return this.#forgotten + this.#messages.length;
  }

  at(index: number): Message | undefined {
    const recorded = this.#messages[index - this.#forgotten];
    return recorded && (recorded.message ?? this.options.messageOf(recorded.bytes));
  }

  /** All messages as bytes. Only of one that is whole. */
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

  /** Nothing more comes. */
  close(error?: GatewayError): void {
    if (this.#end !== undefined) return;
    this.#end = { error, told: this.#followers.size > 0 };
    this.#wake();
  }

  /** Forgets everything. Those who read it go on with what they have not read, and nobody can begin any more. */
  release(): void {
    if (this.#isWhole) this.#spill();
  }

  /**
   * Reads it all into the sink. Resolves when the answer ended well; rejects with what ended it, or with the signal's
   * reason. Throws where it is not whole any more.
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

  /** Forgets what all readers have read, but for its bytes where later ones may come. */
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

  /** Nothing is forgotten of one that is whole, so places count from its first message. */
  #compact(end: number): void {
    for (; this.#compacted < end; this.#compacted += 1) {
      const recorded = this.#messages[this.#compacted];
      if (recorded !== undefined) recorded.message = undefined;
    }
  }
}
