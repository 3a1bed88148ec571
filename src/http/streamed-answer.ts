/** One streamed answer as events of its client's wire: passed as they came, or encoded. */
import { ByteBudget, OF_STREAM_ENDS } from "../base/bytes/byte-budget.js";
import type { Event, StreamGenerateResponse } from "../api/index.js";
import type { GatewayError } from "../base/errors.js";
import { type Format, outlined, type SourceBody, type StreamEncoder, type WireRequest } from "../formats/format.js";

const NO_BYTES = Buffer.alloc(0);
/** Of all streams whose format repeats their text at their end, and a quarter of it for one key. */
const KEPT_BYTES_MAX = 256 * 1024 * 1024;

/** The memory for what the ends of streams repeat. */
export function streamEndMemory(): ByteBudget {
  return new ByteBudget(KEPT_BYTES_MAX, OF_STREAM_ENDS);
}

export class StreamedAnswer {
  readonly #format: Format;
  readonly #source: SourceBody;
  readonly #kept: ByteBudget;
  readonly #holder: string;
  /** What it has taken of the budget. */
  #keptBytes = 0;
  #encoder: StreamEncoder | undefined;
  #sourceSeen = false;
  #finished = false;
  #isOver = false;

  /** `kept` is the memory for what the end of a stream repeats; `holder` names one key. */
  constructor(format: Format, source: SourceBody, kept: ByteBudget, holder: string) {
    this.#format = format;
    this.#source = source;
    this.#kept = kept;
    this.#holder = holder;
  }

  /** True once the last batch of an answer that ended well was pushed. */
  get finished(): boolean {
    return this.#finished;
  }

  /** Whole events. Throws OVERLOADED where what the end of the stream must repeat finds no room. */
  push(message: StreamGenerateResponse): Buffer {
    this.#finished = isFinish(message.events.at(-1));
    if (message.source.length > 0) this.#sourceSeen = true;
    if (!this.#sourceSeen) return message.events.length === 0 ? NO_BYTES : this.#encoded(message.events);
    return this.#finished ? Buffer.concat([message.source, this.#format.wire.streamEnd]) : message.source;
  }

  /** What ends a stream that did not end well. */
  fail(error: GatewayError): Buffer {
    return this.#encode().fail(error);
  }

  /** Gives back what it took. */
  end(): void {
    this.#isOver = true;
    this.#kept.give(this.#holder, this.#keptBytes);
    this.#keptBytes = 0;
  }

  #encoded(events: readonly Event[]): Buffer {
    const encoder = this.#encode();
    const bytes = encoder.push(events);
    const { keptBytes = 0 } = encoder;
    if (keptBytes > this.#keptBytes && !this.#isOver) {
      this.#kept.take(this.#holder, keptBytes - this.#keptBytes);
      this.#keptBytes = keptBytes;
    }
    return bytes;
  }

  #encode(): StreamEncoder {
    if (this.#encoder === undefined) {
      const asked = askedIn(this.#format, this.#source);
      this.#encoder = this.#format.wire.encodeStream(asked.facts, asked);
    }
    return this.#encoder;
  }
}

/** What the client asked, read once more where an answer in its wire is written. */
export function askedIn(format: Format, source: SourceBody): WireRequest {
  return format.wire.readRequest(outlined(source));
}

export function isFinish(event: Event | undefined): boolean {
  return event?.kind?.$case === "finish";
}
