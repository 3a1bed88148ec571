/** Streams, both directions: the upstream's server-sent events to batches, and typed steps to a client's events. */
import type { Event } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { objectOf, parsed } from "../json/value.js";
import { SpanJoiner } from "../span-joiner.js";
import { SseFramer } from "../sse.js";
import type { AnswerReport, Batch, RequestFacts, StreamDecoder, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";

export { encodeStream } from "./events-encode.js";

const NO_EVENTS: Event[] = [];
const LESS_THAN = 0x3c;

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(_request: RequestFacts, form: "events" | "source", asked?: WireRequest): StreamDecoder {
  return new MessagesStreamDecoder(form, asked);
}

class MessagesStreamDecoder implements StreamDecoder {
  private readonly reader: AnswerReader;
  private readonly framer = new SseFramer((data, raw) => this.takeEvent(data, raw));
  private readonly spans = new SpanJoiner();
  private readonly isTyped: boolean;
  private isVisible = false;
  private isClosed = false;
  private error: GatewayError | undefined;
  /** True until the first byte that is no space: it tells a stream from a page. */
  private isFresh = true;

  constructor(form: "events" | "source", asked: WireRequest | undefined) {
    this.isTyped = form === "events";
    this.reader = new AnswerReader(this.isTyped, asked);
  }

  get report(): AnswerReport {
    return this.reader;
  }

  push(chunk: Buffer): Batch {
    if (this.error !== undefined) return this.batch();
    if (this.isFresh) this.refusePage(chunk);
    try {
      this.framer.push(chunk);
    } catch (error) {
      this.error = GatewayError.from(error);
    }
    return this.batch();
  }

  end(): Batch {
    if (this.error !== undefined) return this.batch();
    // An event that was cut is no event: what cannot be read now was never finished.
    this.isClosed = true;
    this.framer.end();
    return this.batch();
  }

  /** Takes one event off the framer. Nothing counts behind the end or an error. */
  private takeEvent(data: Buffer | undefined, raw: Buffer): void {
    if (this.error !== undefined || this.reader.complete) return;
    if (data === undefined || data.length === 0) {
      if (!this.isTyped) this.spans.add(raw);
      return;
    }
    const event = objectOf(parsed(data.toString()));
    if (event === undefined) {
      // The mark that ends a stream of another wire says nothing here.
      if (!this.isClosed && data.toString("latin1").trim() !== "[DONE]")
        this.error = unreadable("its stream holds an event that cannot be read");
      return;
    }
    this.error = this.reader.read(event);
    // The end is held back: the gateway tells it itself, once the answer is settled.
    if (this.error !== undefined || this.isTyped || this.reader.complete) return;
    if (event["type"] !== "ping") this.isVisible = true;
    this.spans.add(raw);
  }

  /** What was taken since the last batch. */
  private batch(): Batch {
    const events = this.isTyped ? this.reader.takeEvents() : NO_EVENTS;
    const visible = this.isVisible || events.length > 0;
    this.isVisible = false;
    return { events, source: this.spans.take(), visible, error: this.error };
  }

  private refusePage(chunk: Buffer): void {
    for (const byte of chunk) {
      if (byte <= 0x20) continue;
      this.isFresh = false;
      if (byte !== LESS_THAN) return;
      this.error = unreadable("it answered with a page in place of a stream");
      throw this.error;
    }
  }
}

function unreadable(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}
