/** One response over a WebSocket: a message to the service, and the events of its answer to the client. */
import type { ByteBudget } from "../base/bytes/byte-budget.js";
import { Cancellation } from "../base/cancellation.js";
import { type CallMetadata, type CallOptions, type Channel, FORM_HEADER, type Sink } from "../api/channel.js";
import { InferenceServiceService, type StreamGenerateResponse } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import {
  type Format,
  type FormatSocket,
  SseFramer,
  type SocketAsked,
  type SocketTurn,
  type SourceBody,
} from "../formats/format.js";
import type { NamedItems } from "./named-items.js";
import type { Running, RunningRequest } from "./running.js";
import type { SocketWriter } from "./socket-writer.js";
import { StreamedAnswer } from "./streamed-answer.js";
import type { ItemCache } from "./item-cache.js";

const OPEN_OBJECT = 0x7b;

export interface SocketResponseParts {
  readonly channel: Channel;
  readonly format: Format;
  readonly socket: FormatSocket;
  readonly writer: SocketWriter;
  readonly running: Running;
  readonly kept: ByteBudget;
  readonly told: ItemCache;
  readonly named: NamedItems;
  readonly prepared: (source: SourceBody, holder: string) => SourceBody | Promise<SourceBody>;
  /** Names one key. */
  readonly holder: string;
  readonly metadata: CallMetadata;
  readonly clamp: boolean | undefined;
  /** Tells the client that the request is refused. */
  readonly onRefused: (error: GatewayError, head: CallMetadata) => void;
}

export class SocketResponse implements Sink<StreamGenerateResponse>, RunningRequest {
  rosterIndex: number | undefined = undefined;
  readonly #parts: SocketResponseParts;
  readonly #asked: SocketAsked;
  #source: SourceBody;
  readonly #abort = new Cancellation();
  #made: StreamedAnswer | undefined;
  readonly #framer: SseFramer;
  readonly #reader;
  #head: CallMetadata = {};
  #messages: Buffer[] = [];
  #begun = false;
  #stopReason: GatewayError | undefined;

  constructor(parts: SocketResponseParts, asked: SocketAsked) {
    const { format } = parts;
    this.#parts = parts;
    this.#asked = asked;
    this.#source = { wire: format.wire.name, body: asked.body, headers: {} };
    this.#reader = parts.socket.follow();
    this.#framer = new SseFramer(
      (data) => {
        if (data?.[0] !== OPEN_OBJECT) return;
        this.#reader.see(data);
        this.#messages.push(data);
      },
      Infinity,
      Infinity,
    );
  }

  /** Made once the source is the one that the service is asked with. */
  get #answer(): StreamedAnswer {
    const { format, kept, holder } = this.#parts;
    return (this.#made ??= new StreamedAnswer(format, this.#source, kept, holder));
  }

  /** Resolves with what the next message may go on from, where it ended well. Never rejects. */
  async run(): Promise<SocketTurn | undefined> {
    const { running, channel, named, prepared, format, holder } = this.#parts;
    try {
      running.add(this);
      this.#source = await named.resolved(this.#source, format.memory, holder);
      this.#source = await prepared(this.#source, holder);
      await channel.stream(InferenceServiceService.streamGenerate, this.#call(), this.#options(), this);
      if (this.#stopReason !== undefined) throw this.#stopReason;
      if (!this.#answer.finished) throw new Error("no finish came");
      return this.#asked.said && this.#reader.turn(this.#asked.said);
    } catch (error) {
      this.#fail(GatewayError.from(this.#stopReason ?? error));
      return undefined;
    } finally {
      this.#made?.end();
      // It runs until its last byte is out: a stopping server must not cut a reader that is slow.
      await this.#parts.writer.flushed();
      running.remove(this);
    }
  }

  stop(reason: GatewayError): void {
    this.#stopReason ??= reason;
    this.#abort.abort(reason);
  }

  head(metadata: CallMetadata): void {
    this.#head = metadata;
    // Whoever asks for a stream gets one, since no answer over a WebSocket is another's that comes again.
    if (metadata[FORM_HEADER] !== "stream") this.stop(new GatewayError("ERROR_REASON_INTERNAL"));
  }

  data(message: StreamGenerateResponse): boolean {
    try {
      if (this.#answer.finished || this.#stopReason !== undefined) return true;
      const events = this.#answer.push(message);
      if (this.#answer.finished) this.#remember(events);
      return this.#send(events);
    } catch (error) {
      // An answer that cannot be told is our fault; the call must not go on and must not take the error for its own.
      this.stop(GatewayError.from(error));
      return true;
    }
  }

  onDrain(callback: () => void): void {
    this.#parts.writer.onDrain(callback);
  }

  #call(): Parameters<typeof InferenceServiceService.streamGenerate.requestSerialize>[0] {
    const input = { $case: "source" as const, value: this.#source };
    const { format, clamp } = this.#parts;
    return { generation: { model: "", input, outputTokensMax: undefined, clamp }, acceptWire: format.wire.name };
  }

  #options(): CallOptions {
    return { metadata: this.#parts.metadata, signal: this.#abort };
  }

  #send(events: Buffer): boolean {
    this.#framer.push(events);
    if (this.#answer.finished) this.#framer.end();
    if (this.#messages.length === 0) return !this.#parts.writer.isFull;
    this.#begun = true;
    const messages = this.#messages;
    this.#messages = [];
    return this.#parts.writer.send(messages);
  }

  /** Keeps a good answer where its client may name it later. */
  #remember(events: Buffer): void {
    const { memory } = this.#parts.format;
    if (memory?.mayKeep(this.#source) !== true) return;
    this.#parts.told.keep(this.#parts.holder, memory.toldIn(events, true));
  }

  /** Before the first event a refusal is told by itself; after it, in the stream, which never ends well. */
  #fail(error: GatewayError): void {
    if (!this.#begun) return this.#parts.onRefused(error, this.#head);
    try {
      this.#send(this.#answer.fail(error));
    } catch {
      this.#parts.onRefused(error, this.#head);
    }
  }
}
