/** One call through a tunnel, on the front end's side: its request cut into pieces, its answer put together. */
import type { CallMetadata, CallOptions, Method, Reply, Sink } from "../../api/channel.js";
import { TunnelFrameKind, type TunnelFrame } from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import { FRONT_HEADER } from "../call/client-address.js";
import { ANSWER_BYTES_MAX, MESSAGE_BYTES_MAX } from "../call/bounds.js";
import { deadlineError, goneError, TIMER_MS_MAX } from "../call/lifetime.js";
import { readHeaderLines, writeHeaderLines } from "./header-lines.js";
import { errorOfBytes } from "../call/status.js";
import {
  ANSWER_WINDOW_BYTES,
  frameOf,
  MalformedFrame,
  pieceCost,
  REQUEST_WINDOW_BYTES,
  windowFrame,
} from "./tunnel-frame.js";
import type { Outbox } from "./tunnel-outbox.js";
import { PieceReader, PieceWriter } from "./tunnel-pieces.js";

const {
  TUNNEL_FRAME_KIND_HEAD,
  TUNNEL_FRAME_KIND_DATA,
  TUNNEL_FRAME_KIND_END,
  TUNNEL_FRAME_KIND_ERROR,
  TUNNEL_FRAME_KIND_WINDOW,
  TUNNEL_FRAME_KIND_CANCEL,
} = TunnelFrameKind;

/** What a call needs of its tunnel. */
export interface ClientPlace {
  readonly outbox: Outbox;
  readonly onEnd: (callId: number) => void;
}

/** What a call needs of its method. */
type AnswerForm<Response> = Pick<Method<never, Response>, "path" | "responseDeserialize">;

/** What both forms of a call share: opening, pieces, leaving, the deadline. */
abstract class ClientCall<Response> {
  readonly #place: ClientPlace;
  readonly #options: CallOptions;
  readonly #writer: PieceWriter;
  readonly #reader = new PieceReader(ANSWER_WINDOW_BYTES, ANSWER_BYTES_MAX);
  readonly #onAbort = (): void => this.leave(goneError(this.#options.signal));
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(
    readonly callId: number,
    place: ClientPlace,
    options: CallOptions,
    protected readonly method: AnswerForm<Response>,
  ) {
    this.#place = place;
    this.#options = options;
    this.#writer = new PieceWriter(callId, place.outbox, REQUEST_WINDOW_BYTES, MESSAGE_BYTES_MAX);
  }

  /** Throws BODY_TOO_LARGE, and what a broken header throws. */
  open(request: Buffer): void {
    const { signal, timeoutMs, metadata } = this.#options;
    const frame = frameOf(this.callId, TUNNEL_FRAME_KIND_HEAD);
    frame.method = this.method.path;
    // The tunnel was opened with the front token, so that no call needs it again.
    frame.headers = writeHeaderLines(metadata, FRONT_HEADER);
    frame.windowBytes = ANSWER_WINDOW_BYTES;
    if (timeoutMs !== undefined && timeoutMs <= TIMER_MS_MAX) {
      frame.timeoutMs = Math.ceil(timeoutMs);
      this.#timer = setTimeout(() => this.leave(deadlineError()), timeoutMs);
    }
    signal.addEventListener("abort", this.#onAbort, { once: true });
    this.#writer.write(request, frame);
  }

  /** A frame from the core. Throws MalformedFrame. */
  step(frame: TunnelFrame): void {
    switch (frame.kind) {
      case TUNNEL_FRAME_KIND_HEAD:
        this.onHead(readHeaderLines(frame.headers));
        return;
      case TUNNEL_FRAME_KIND_DATA:
        this.#piece(frame.data, frame.more);
        return;
      case TUNNEL_FRAME_KIND_END:
        if (this.#reader.amid) throw new MalformedFrame("a call ends amid a message");
        this.onEnd(frame);
        return;
      case TUNNEL_FRAME_KIND_ERROR:
        this.onError(errorOfBytes(frame.data));
        return;
      case TUNNEL_FRAME_KIND_WINDOW:
        this.#writer.grant(frame.windowBytes);
        return;
      default:
        throw new MalformedFrame("a frame is of no kind that the core sends");
    }
  }

  /** Ends the call before its answer did. */
  leave(error: GatewayError): void {
    if (this.#over) return;
    this.#place.outbox.push(frameOf(this.callId, TUNNEL_FRAME_KIND_CANCEL));
    this.over();
    this.reject(error);
  }

  /** The tunnel broke. */
  abstract onError(error: GatewayError): void;
  protected abstract onHead(metadata: CallMetadata): void;
  protected abstract onMessage(message: Response, lastPieceCost: number): void;
  protected abstract onEnd(frame: TunnelFrame): void;
  protected abstract reject(error: GatewayError): void;

  /** The message is done with, so that the window can be opened further. */
  protected used(lastPieceCost: number): void {
    this.#reader.used(lastPieceCost);
    this.#grant();
  }

  /** Nothing more is expected of the tunnel. */
  protected over(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#onAbort);
    this.#writer.close();
    this.#place.onEnd(this.callId);
  }

  #piece(data: Buffer, more: boolean): void {
    const bytes = this.#reader.push(data, more);
    if (bytes === undefined) this.#grant();
    else this.onMessage(this.method.responseDeserialize(bytes), pieceCost(data));
  }

  #grant(): void {
    if (this.#over || this.stalled) return;
    const windowBytes = this.#reader.grant();
    if (windowBytes > 0) this.#place.outbox.push(windowFrame(this.callId, windowBytes));
  }

  /** True while the reader takes nothing, so that the window stays as it is. */
  protected get stalled(): boolean {
    return false;
  }
}

export class UnaryClientCall<Response> extends ClientCall<Response> {
  readonly #resolve: (reply: Reply<Response>) => void;
  readonly #reject: (error: GatewayError) => void;
  #message: Response | undefined;

  constructor(
    callId: number,
    place: ClientPlace,
    options: CallOptions,
    method: AnswerForm<Response>,
    done: { resolve: (reply: Reply<Response>) => void; reject: (error: GatewayError) => void },
  ) {
    super(callId, place, options, method);
    this.#resolve = done.resolve;
    this.#reject = done.reject;
  }

  onError(error: GatewayError): void {
    this.over();
    this.#reject(error);
  }

  protected onHead(): void {
    throw new MalformedFrame("a unary call has its headers at its end");
  }

  protected onMessage(message: Response): void {
    this.#message = message;
  }

  protected onEnd({ data, headers }: TunnelFrame): void {
    const message = this.#message ?? this.method.responseDeserialize(data);
    const head = readHeaderLines(headers);
    this.over();
    this.#resolve({ message, head });
  }

  protected reject(error: GatewayError): void {
    this.#reject(error);
  }
}

/** A message that the sink has not taken yet. */
interface Held<Response> {
  readonly message: Response;
  readonly lastPieceCost: number;
}

export class StreamClientCall<Response> extends ClientCall<Response> {
  readonly #sink: Sink<Response>;
  readonly #resolve: () => void;
  readonly #reject: (error: GatewayError) => void;
  #held: Held<Response>[] = [];
  #stalled = false;
  /** How the call ends once the sink took what is held. */
  #ending: { readonly error: GatewayError | undefined } | undefined;
  #closed = false;

  constructor(
    callId: number,
    place: ClientPlace,
    options: CallOptions,
    method: AnswerForm<Response>,
    done: { sink: Sink<Response>; resolve: () => void; reject: (error: GatewayError) => void },
  ) {
    super(callId, place, options, method);
    this.#sink = done.sink;
    this.#resolve = done.resolve;
    this.#reject = done.reject;
    this.#sink.onDrain(() => this.#resume());
  }

  /** Messages that came before a refusal are still delivered; after a lost caller or deadline nobody waits for them. */
  onError(error: GatewayError): void {
    const isWanted = error.reason !== "ERROR_REASON_CANCELLED" && error.metadata["phase"] !== "deadline";
    if (!isWanted) this.#held = [];
    this.#conclude({ error }, isWanted);
  }

  protected override get stalled(): boolean {
    return this.#stalled;
  }

  protected onHead(metadata: CallMetadata): void {
    this.#sink.head(metadata);
  }

  protected onMessage(message: Response, lastPieceCost: number): void {
    if (this.#stalled) this.#held.push({ message, lastPieceCost });
    else this.#deliver(message, lastPieceCost);
  }

  protected onEnd(): void {
    this.#conclude({ error: undefined }, true);
  }

  protected reject(error: GatewayError): void {
    this.#held = [];
    this.#closed = true;
    this.#reject(error);
  }

  #deliver(message: Response, lastPieceCost: number): void {
    this.#stalled = !this.#sink.data(message);
    this.used(lastPieceCost);
  }

  #resume(): void {
    if (this.#closed) return;
    this.#stalled = false;
    let next = 0;
    for (; next < this.#held.length && !this.#stalled; next++) {
      const held = this.#held[next];
      if (held !== undefined) this.#deliver(held.message, held.lastPieceCost);
    }
    this.#held.splice(0, next);
    if (!this.#stalled) this.used(0);
    if (this.#ending !== undefined) this.#conclude(this.#ending, true);
  }

  #conclude(ending: { readonly error: GatewayError | undefined }, afterHeld: boolean): void {
    if (this.#closed) return;
    this.#ending ??= ending;
    if (afterHeld && this.#held.length > 0) return;
    this.#closed = true;
    this.over();
    if (this.#ending.error === undefined) this.#resolve();
    else this.#reject(this.#ending.error);
  }
}
