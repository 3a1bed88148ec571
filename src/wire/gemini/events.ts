/** Streams, both directions: the upstream's server-sent events to batches, and typed steps to a client's events. */
import type { Event } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { objectOf, parsed } from "../json/value.js";
import { SpanJoiner } from "../span-joiner.js";
import { SseFramer } from "../sse.js";
import type { AnswerReport, Batch, RequestFacts, StreamDecoder, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";
import { encodeStream } from "./events-encode.js";

export { encodeStream };

const WHOLE_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const NO_EVENTS: Event[] = [];

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const LESS_THAN = 0x3c;

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(request: RequestFacts, form: "events" | "source", asked?: WireRequest): StreamDecoder {
  return new GeminiStreamDecoder(request, form, asked);
}

class GeminiStreamDecoder implements StreamDecoder {
  private readonly reader: AnswerReader;
  private readonly framer = new SseFramer((data, raw) => this.takeEvent(data, raw));
  private readonly spans = new SpanJoiner();
  private readonly isTyped: boolean;
  private isVisible = false;
  private isClosed = false;
  private error: GatewayError | undefined;
  /** True until the first byte that is no space: it tells a stream from what is none. */
  private isFresh = true;
  /** The reads of an answer that came as JSON although a stream of events was asked for. */
  private whole: Buffer[] | undefined;
  private wholeBytes = 0;

  constructor(request: RequestFacts, form: "events" | "source", asked: WireRequest | undefined) {
    this.isTyped = form === "events";
    this.reader = new AnswerReader(this.isTyped, request.candidateCount, asked);
  }

  get report(): AnswerReport {
    return this.reader;
  }

  push(chunk: Buffer): Batch {
    if (this.error !== undefined) return this.batch();
    if (this.isFresh) this.recognize(chunk);
    if (this.whole !== undefined) return this.gather(this.whole, chunk);
    try {
      this.framer.push(chunk);
    } catch (error) {
      this.error = GatewayError.from(error);
    }
    return this.batch();
  }

  end(): Batch {
    if (this.error !== undefined) return this.batch();
    try {
      // An event that was cut is no event: what cannot be read now was never finished.
      this.isClosed = true;
      if (this.whole !== undefined) this.unfold(Buffer.concat(this.whole));
      else this.framer.end();
      if (this.error === undefined) this.reader.finish(false);
    } catch (error) {
      this.error = GatewayError.from(error);
    }
    return this.batch();
  }

  /** Takes one event off the framer. Nothing counts behind an error. */
  private takeEvent(data: Buffer | undefined, raw: Buffer): void {
    if (this.error !== undefined) return;
    if (data === undefined || data.length === 0) {
      if (!this.isTyped) this.spans.add(raw);
      return;
    }
    const chunk = objectOf(parsed(data.toString()));
    if (chunk === undefined) {
      if (!this.isClosed) this.error = unreadable("its stream holds an event that cannot be read");
      return;
    }
    this.error = this.reader.read(chunk);
    if (this.error !== undefined) return;
    this.isVisible = true;
    if (!this.isTyped) this.spans.add(raw);
  }

  /** What was taken since the last batch. */
  private batch(): Batch {
    const events = this.isTyped ? this.reader.takeEvents() : NO_EVENTS;
    const visible = this.isVisible || events.length > 0;
    this.isVisible = false;
    return { events, source: this.spans.take(), visible, error: this.error };
  }

  /** Tells a stream of events from a page of HTML, and from JSON. */
  private recognize(chunk: Buffer): void {
    for (const byte of chunk) {
      if (byte <= 0x20) continue;
      this.isFresh = false;
      if (byte === LESS_THAN) {
        this.error = unreadable("it answered with a page in place of a stream");
        throw this.error;
      }
      if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.whole = [];
      return;
    }
  }

  private gather(whole: Buffer[], chunk: Buffer): Batch {
    this.wholeBytes += chunk.length;
    if (this.wholeBytes > WHOLE_ANSWER_BYTES_MAX) throw unreadable("its answer is too long");
    whole.push(chunk);
    return this.batch();
  }

  /** Tells a list of chunks, or one whole answer, as the stream that was asked for. */
  private unfold(body: Buffer): void {
    this.whole = [];
    if (body.length === 0) return;
    const value = parsed(body.toString());
    const chunks = Array.isArray(value) ? value : [value];
    for (const chunk of chunks) {
      const data = Buffer.from(JSON.stringify(chunk) ?? "");
      this.takeEvent(data, Buffer.concat([Buffer.from("data: "), data, Buffer.from("\n\n")]));
    }
  }
}

function unreadable(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}
