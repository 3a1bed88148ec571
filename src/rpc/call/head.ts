/** The headers of one answer: they carry the request's id, go out once, and go out before the first message. */
import type { CallMetadata, CallSink, Sink } from "../../api/channel.js";
import type { Act } from "../../audit/act.js";
import type { Caller } from "../../keys/caller.js";

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

/**
 * The sink of a call. It puts the request's id in the head and lets nothing through once the call ended; what was
 * redirected goes on by itself.
 */
export class AnswerSink<Message> implements CallSink<Message>, Head {
  caller: Caller | undefined = undefined;
  address: string | undefined = undefined;
  act: Act | undefined = undefined;
  begun = false;
  #to: Sink<Message>;
  #onDrain: (() => void) | undefined;
  #moreHead: CallMetadata | undefined;
  #isRedirected = false;
  #open = true;

  constructor(
    readonly requestId: string,
    to: Sink<Message>,
  ) {
    this.#to = to;
  }

  head(metadata: CallMetadata): void {
    if (this.begun || !this.#open) return;
    this.begun = true;
    if (this.#isRedirected) return this.#to.head(metadata);
    const more = this.#moreHead;
    this.#to.head(named(more === undefined ? metadata : { ...metadata, ...more }, this.requestId));
  }

  data(message: Message): boolean {
    // A handler that still pushes after the end must not wait for a drain that never comes.
    if (!this.#open) return true;
    if (!this.begun) this.head({});
    return this.#to.data(message);
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
    this.#to.onDrain(callback);
  }

  addHead(more: CallMetadata): void {
    this.#moreHead = { ...this.#moreHead, ...more };
  }

  redirect(to: Sink<Message>): void {
    this.#to = to;
    this.#isRedirected = true;
    if (this.#onDrain !== undefined) to.onDrain(this.#onDrain);
  }

  /** The stream ended well: its head goes out even where it has no message. */
  finish(): void {
    this.head({});
  }

  close(): void {
    this.#open = this.#isRedirected;
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
