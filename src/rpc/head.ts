/** The headers of one answer: they carry the request's id, go out once, and go out before the first message. */
import type { CallMetadata, Sink } from "../api/channel.js";
import type { Act } from "../audit/act.js";
import type { Caller } from "../keys/caller.js";

/** Where a handler's headers go. */
export interface Head {
  readonly requestId: string;
  /** Who calls, and from where; undefined until that is known. */
  caller: Caller | undefined;
  address: string | undefined;
  /** What the call is recorded as; undefined where it changes nothing, or its caller is not known. */
  act: Act | undefined;
  head(metadata: CallMetadata): void;
  /** What goes with the end of the call: all headers where none went out yet, else the request's id. */
  take(): CallMetadata;
}

/** The headers of a unary answer: kept until it is there. */
export class NamedHead implements Head {
  caller: Caller | undefined = undefined;
  address: string | undefined = undefined;
  act: Act | undefined = undefined;
  #head: CallMetadata;

  constructor(readonly requestId: string) {
    this.#head = { "x-request-id": requestId };
  }

  head(metadata: CallMetadata): void {
    this.#head = named(metadata, this.requestId);
  }

  take(): CallMetadata {
    return this.#head;
  }
}

/** The sink of a streaming call. It puts the request's id in the head and lets nothing through once the call ended. */
export class CallSink<Message> implements Sink<Message>, Head {
  caller: Caller | undefined = undefined;
  address: string | undefined = undefined;
  act: Act | undefined = undefined;
  readonly #to: Sink<Message>;
  #headSent = false;
  #open = true;

  constructor(
    readonly requestId: string,
    to: Sink<Message>,
  ) {
    this.#to = to;
  }

  head(metadata: CallMetadata): void {
    if (this.#headSent || !this.#open) return;
    this.#headSent = true;
    this.#to.head(named(metadata, this.requestId));
  }

  data(message: Message): boolean {
    // A handler that still pushes after the end must not wait for a drain that never comes.
    if (!this.#open) return true;
    if (!this.#headSent) this.head({});
    return this.#to.data(message);
  }

  onDrain(callback: () => void): void {
    this.#to.onDrain(callback);
  }

  /** The stream ended well: its head goes out even where it has no message. */
  finish(): void {
    this.head({});
  }

  close(): void {
    this.#open = false;
  }

  take(): CallMetadata {
    return { "x-request-id": this.requestId };
  }
}

/** The headers with the request's own id, whichever they bring: a replayed answer has one of an earlier request. */
function named(metadata: CallMetadata, requestId: string): CallMetadata {
  // A spread before a new name takes ten times as long.
  // oxlint-disable-next-line prefer-object-spread
  return Object.assign({}, metadata, { "x-request-id": requestId });
}
