/** One call that came through a tunnel, on the core's side: its request put together, its answer cut into pieces. */
import { Cancellation, type CancelSignal } from "../../base/cancellation.js";
import type { CallMetadata, Sink } from "../../api/channel.js";
import { TunnelFrameKind } from "../../api/index.js";
import type { AnyMethod } from "../../api/methods.js";
import type { RequestQueue } from "../../base/event-loop/request-queue.js";
import { GatewayError } from "../../base/errors.js";
import { ANSWER_BYTES_MAX, MESSAGE_BYTES_MAX } from "../call/bounds.js";
import { beginsRequest } from "../call/begins-request.js";
import type { BlockedReader, BlockedReaders } from "./blocked-readers.js";
import type { Dispatcher } from "../call/dispatcher.js";
import type { Refused, ServerCall } from "../call/server-call.js";
import { decodeRequest } from "./long-message.js";
import { responseBytes } from "./message-bytes.js";
import { writeHeaderLines } from "./header-lines.js";
import { statusBytes } from "../call/status.js";
import { frameOf, MalformedFrame, NO_BYTES, REQUEST_WINDOW_BYTES, windowFrame } from "./tunnel-frame.js";
import type { Outbox } from "./tunnel-outbox.js";
import { PieceReader, PieceWriter } from "./tunnel-pieces.js";

const { TUNNEL_FRAME_KIND_END, TUNNEL_FRAME_KIND_ERROR, TUNNEL_FRAME_KIND_HEAD } = TunnelFrameKind;

/** What a call's opening frame says. */
export interface Opening {
  readonly callId: number;
  readonly method: AnyMethod;
  readonly metadata: CallMetadata;
  readonly peer: string;
  readonly timeoutMs: number | undefined;
  readonly windowBytes: number;
}

/** What a call needs of its tunnel. */
export interface CallPlace {
  readonly dispatcher: Pick<Dispatcher, "unary" | "stream" | "queueOf" | "refusedAtEdge">;
  readonly queue: Pick<RequestQueue, "isFree" | "push"> | undefined;
  readonly outbox: Outbox;
  readonly readers: BlockedReaders;
  /** The call's last frame is on its way. */
  readonly onEnd: (callId: number) => void;
}

export class TunnelServerCall implements Sink<unknown>, ServerCall, BlockedReader {
  readonly metadata: CallMetadata;
  readonly peer: string;
  readonly timeoutMs: number | undefined;
  /** Only a front end of ours opens a tunnel, so its word on the client's address is believed. */
  readonly local = true;
  readonly #callId: number;
  readonly #method: AnyMethod;
  readonly #place: CallPlace;
  readonly #gone = new Cancellation();
  readonly #writer: PieceWriter;
  #reader: PieceReader | undefined = new PieceReader(REQUEST_WINDOW_BYTES, MESSAGE_BYTES_MAX);
  #onDrain: (() => void) | undefined;
  #ended = false;

  constructor(opening: Opening, place: CallPlace) {
    this.metadata = opening.metadata;
    this.peer = opening.peer;
    this.timeoutMs = opening.timeoutMs;
    this.#callId = opening.callId;
    this.#method = opening.method;
    this.#place = place;
    this.#writer = new PieceWriter(opening.callId, place.outbox, opening.windowBytes, ANSWER_BYTES_MAX);
    this.#writer.onDrain(() => {
      place.readers.moved(this);
      if (this.#ended) place.onEnd(this.#callId);
      else this.#onDrain?.();
    });
  }

  get signal(): CancelSignal {
    return this.#gone;
  }

  /** A piece of the request. Throws MalformedFrame where one is not due. */
  take(data: Buffer, more: boolean): void {
    const reader = this.#reader;
    if (reader === undefined) throw new MalformedFrame("a piece comes after the whole request");
    try {
      const bytes = reader.push(data, more);
      if (bytes === undefined) {
        const windowBytes = reader.grant();
        if (windowBytes > 0) this.#place.outbox.push(windowFrame(this.#callId, windowBytes));
        return;
      }
      this.#reader = undefined;
      this.#begin(bytes);
    } catch (error) {
      if (error instanceof MalformedFrame) throw error;
      this.#refuseHere(error);
    }
  }

  /** What runs already, and what is told of it, goes before what begins. */
  #begin(bytes: Buffer): void {
    const { queue, dispatcher } = this.#place;
    if (queue === undefined || !beginsRequest(this.#method.path) || queue.isFree) return void this.#run(bytes);
    queue.push(dispatcher.queueOf(this.metadata), {
      start: () => void (this.#ended || this.#run(bytes)),
      refuse: (error) => void (this.#ended || this.refuse(error, {})),
    });
  }

  /** What never came to the method is told here. */
  #refuseHere(thrown: unknown): void {
    const told = { path: this.#method.path, metadata: this.metadata };
    this.refuse(this.#place.dispatcher.refusedAtEdge(thrown, told), {});
  }

  grant(windowBytes: number): void {
    // The reader took something, though there may be more than it takes now.
    this.#place.readers.moved(this);
    this.#writer.grant(windowBytes);
    if (this.#writer.behind) this.#place.readers.behind(this);
  }

  /** Its front end reads nothing of it: the call ends, and what waited is dropped. */
  cut(): void {
    const error = new GatewayError("ERROR_REASON_CANCELLED");
    this.cancel();
    this.#place.outbox.push(frameOf(this.#callId, TUNNEL_FRAME_KIND_ERROR, statusBytes(error)));
    this.#place.onEnd(this.#callId);
  }

  /** The caller went away: nothing more goes out. */
  cancel(): void {
    this.#ended = true;
    this.#place.readers.moved(this);
    this.#writer.close();
    this.#gone.abort(new GatewayError("ERROR_REASON_CANCELLED"));
  }

  /** Ends the call with a refusal. */
  refuse(error: GatewayError, trailers: CallMetadata): void {
    const headers = writeHeaderLines(trailers);
    this.#end(frameOf(this.#callId, TUNNEL_FRAME_KIND_ERROR, statusBytes(error), false, headers));
  }

  head(metadata: CallMetadata): void {
    if (this.#ended) return;
    const headers = writeHeaderLines(metadata);
    this.#place.outbox.push(frameOf(this.#callId, TUNNEL_FRAME_KIND_HEAD, NO_BYTES, false, headers));
  }

  data(message: unknown): boolean {
    return this.#send(responseBytes(this.#method, message));
  }

  #send(bytes: Buffer): boolean {
    if (this.#ended) return true;
    const keepsUp = this.#writer.write(bytes);
    if (!keepsUp) this.#place.readers.behind(this);
    return keepsUp;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /** Never rejects: what cannot be told is our fault. */
  async #run(bytes: Buffer): Promise<void> {
    try {
      const refused = this.#method.responseStream ? await this.#stream(bytes) : await this.#unary(bytes);
      if (refused !== undefined) this.refuse(refused.error, refused.trailers);
    } catch (error) {
      this.#refuseHere(error);
    }
  }

  async #unary(bytes: Buffer): Promise<Refused | undefined> {
    const outcome = await this.#place.dispatcher.unary(this.#method, this.#request(bytes), this);
    if (outcome.kind === "refused") return outcome;
    const answer = responseBytes(this.#method, outcome.message);
    const isOnePiece = this.#writer.takes(answer);
    if (!isOnePiece) this.#send(answer);
    const headers = writeHeaderLines(outcome.head);
    this.#end(frameOf(this.#callId, TUNNEL_FRAME_KIND_END, isOnePiece ? answer : NO_BYTES, false, headers));
    return undefined;
  }

  async #stream(bytes: Buffer): Promise<Refused | undefined> {
    const outcome = await this.#place.dispatcher.stream(this.#method, this.#request(bytes), this, this);
    if (outcome.kind === "refused") return outcome;
    this.#end(frameOf(this.#callId, TUNNEL_FRAME_KIND_END));
    return undefined;
  }

  #request(bytes: Buffer): unknown {
    try {
      return decodeRequest(this.#method, bytes);
    } catch (cause) {
      if (cause instanceof GatewayError) throw cause;
      const problem = "it is not a valid message for this method";
      throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem }, { cause });
    }
  }

  #end(frame: ReturnType<typeof frameOf>): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#reader = undefined;
    this.#writer.end(frame);
    if (!this.#writer.behind) this.#place.onEnd(this.#callId);
  }
}
