/** Where a gRPC call's answer goes, at its reader's pace: a reader that takes nothing for too long is cut. */
import type { ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import type { Cancellation } from "../../base/cancellation.js";
import type { CallMetadata, Sink } from "../../api/channel.js";
import type { StreamGenerateResponse } from "../../api/index.js";
import { GatewayError } from "../../base/errors.js";
import type { BlockedReader, BlockedReaders } from "./blocked-readers.js";
import type { GrpcConnection } from "./listener.js";
import { writeMetadata } from "../call/metadata.js";

/**
 * What a call is given before its reader took all of it. The library's own mark counts messages, of which each may hold
 * all that one read of an upstream brought.
 */
const GIVEN_BYTES_MAX = 128 * 1024;
/** About what a message takes beside its bytes, and each of its events. */
const FRAME_BYTES = 256;

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** What a reader is cut by: its call is told that the caller left, so that it pays for what came. */
export class AnswerWriter implements Sink<unknown>, BlockedReader {
  readonly #call: ServerWritableStream<unknown, unknown>;
  readonly #readers: BlockedReaders;
  readonly #gone: Cancellation;
  /** Given since the call had nothing left to send. */
  #givenBytes = 0;
  #isFull = false;
  #onDrain: (() => void) | undefined;
  /** Called for each message that went out. */
  readonly #taken = (): void => {
    if (this.#call.writableLength > 0) return;
    this.#givenBytes = 0;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#readers.moved(this);
    this.#onDrain?.();
  };

  constructor(call: ServerWritableStream<unknown, unknown>, readers: BlockedReaders, gone: Cancellation) {
    this.#call = call;
    this.#readers = readers;
    this.#gone = gone;
  }

  head(metadata: CallMetadata): void {
    this.#call.sendMetadata(writeMetadata(metadata));
  }

  data(message: unknown): boolean {
    this.#givenBytes += bytesOf(message);
    const keepsUp = this.#call.write(message, this.#taken) && this.#givenBytes < GIVEN_BYTES_MAX;
    if (!keepsUp) {
      this.#isFull = true;
      this.#readers.behind(this);
    }
    return keepsUp;
  }

  onDrain(callback: () => void): void {
    this.#onDrain = callback;
  }

  /** The call's work is over. */
  over(): void {
    this.#readers.moved(this);
  }

  cut(): void {
    this.#gone.abort(new GatewayError("ERROR_REASON_CANCELLED"));
  }
}

/** About what a message takes until it is sent. */
function bytesOf(message: unknown): number {
  const { source, events } = message as Partial<StreamGenerateResponse>;
  return FRAME_BYTES * (1 + (events?.length ?? 0)) + (source?.length ?? 0);
}

/** The end of an answer that its reader may never take. The library can end a call, but only a connection frees it. */
export class AnswerEnd implements BlockedReader {
  readonly #readers: BlockedReaders;
  readonly #connection: GrpcConnection;
  #writtenBytes = 0;

  private constructor(readers: BlockedReaders, connection: GrpcConnection) {
    this.#readers = readers;
    this.#connection = connection;
    this.#wait();
  }

  /** Looks after the end of a call until its last byte is out. */
  static watch(call: AnyCall, readers: BlockedReaders, connection: GrpcConnection | undefined): void {
    if (connection === undefined || call.cancelled) return;
    const end = new AnswerEnd(readers, connection);
    call.once("cancelled", () => readers.moved(end));
  }

  cut(): void {
    const { socket } = this.#connection;
    // Other calls of the connection run, or their answers are read: it is left alone, and looked at again.
    if (this.#connection.running > 0 || socket.bytesWritten > this.#writtenBytes) this.#wait();
    else socket.destroy();
  }

  #wait(): void {
    this.#writtenBytes = this.#connection.socket.bytesWritten;
    this.#readers.behind(this);
  }
}
