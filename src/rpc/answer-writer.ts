/** Where a gRPC call's answer goes, at its reader's pace: a reader that takes nothing for too long is cut. */
import type { ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import type { Cancellation } from "../api/cancellation.js";
import type { CallMetadata, Sink } from "../api/channel.js";
import { GatewayError } from "../errors.js";
import type { BlockedReader, BlockedReaders } from "./blocked-readers.js";
import type { GrpcConnection } from "./listener.js";
import { writeMetadata } from "./metadata.js";

type AnyCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>;

/** What a reader is cut by: its call is told that the caller left, so that it pays for what came. */
export class AnswerWriter implements Sink<unknown>, BlockedReader {
  readonly #call: ServerWritableStream<unknown, unknown>;
  readonly #readers: BlockedReaders;
  readonly #gone: Cancellation;

  constructor(call: ServerWritableStream<unknown, unknown>, readers: BlockedReaders, gone: Cancellation) {
    this.#call = call;
    this.#readers = readers;
    this.#gone = gone;
  }

  head(metadata: CallMetadata): void {
    this.#call.sendMetadata(writeMetadata(metadata));
  }

  data(message: unknown): boolean {
    const keepsUp = this.#call.write(message);
    if (!keepsUp) this.#readers.behind(this);
    return keepsUp;
  }

  onDrain(callback: () => void): void {
    this.#call.on("drain", () => {
      this.#readers.moved(this);
      callback();
    });
  }

  /** The call's work is over. */
  over(): void {
    this.#readers.moved(this);
  }

  cut(): void {
    this.#gone.abort(new GatewayError("ERROR_REASON_CANCELLED"));
  }
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
