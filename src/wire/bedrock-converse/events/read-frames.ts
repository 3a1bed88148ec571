/** Cuts a binary event stream into its messages. Each tells its own length, and proves itself by two checksums. */
import { createRequire } from "node:module";
import { asBuffer } from "../../../base/bytes/bytes.js";
import { GatheredBytes } from "../../../base/bytes/gathered-bytes.js";
import type { EventStreamCodec, Message } from "@smithy/eventstream-codec";

/** Loaded with the first stream: a gateway without such a family starts faster. */
const require = createRequire(import.meta.url);

/** The length of a message that holds nothing: its two lengths and two checksums. */
const MESSAGE_BYTES_MIN = 16;
/** As a line of other streams: an answer comes in pieces far shorter than this. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
const LENGTH_BYTES = 4;

/** One message: what its headers say of it, as text, and its payload. */
export interface Frame {
  header(name: string): string;
  readonly body: Buffer;
}

let codec: EventStreamCodec | undefined;

function loadCodec(): EventStreamCodec {
  const library: { readonly EventStreamCodec: typeof EventStreamCodec } = require("@smithy/eventstream-codec");
  return new library.EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString("utf8"),
    (text) => Buffer.from(text),
  );
}

export class FrameReader {
  private readonly waiting = new GatheredBytes();
  /** How many bytes the message that waits must have before it is looked at again. */
  private wantedBytes = LENGTH_BYTES;

  /** The messages that the chunk completes. Throws an Error where the bytes are no such stream. */
  *push(chunk: Buffer): Generator<Frame, void> {
    this.waiting.add(chunk);
    while (this.waiting.length >= this.wantedBytes) {
      const bytes = this.waiting.take();
      const length = bytes.readUInt32BE(0);
      if (length < MESSAGE_BYTES_MIN || length > MESSAGE_BYTES_MAX) throw new Error("a message has no such length");
      const rest = length <= bytes.length ? bytes.subarray(length) : bytes;
      if (rest.length > 0) this.waiting.add(rest);
      if (length > bytes.length) {
        this.wantedBytes = length;
        return;
      }
      this.wantedBytes = LENGTH_BYTES;
      yield frameOf((codec ??= loadCodec()).decode(bytes.subarray(0, length)));
    }
  }

  /** True where a message began and did not end. */
  get isCut(): boolean {
    return this.waiting.length > 0;
  }
}

function frameOf({ headers, body }: Message): Frame {
  return {
    header: (name) => {
      const told = headers[name];
      return told?.type === "string" ? told.value : "";
    },
    body: asBuffer(body),
  };
}
