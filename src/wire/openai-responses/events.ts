/** Streams, both directions: the upstream's server-sent events to batches, and typed steps to a client's events. */
import type { Event } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { objectOf, parsed, textOf } from "../json/value.js";
import { SpanJoiner } from "../span-joiner.js";
import { SseFramer } from "../sse.js";
import type { AnswerReport, Batch, RequestFacts, StreamDecoder, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";
import { encodeStream } from "./events-encode.js";

export { encodeStream };

const WHOLE_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const NO_EVENTS: Event[] = [];
const OPEN_OBJECT = 0x7b;
const LESS_THAN = 0x3c;

/** Events before anything is generated. */
const OPENINGS: ReadonlySet<string> = new Set(["response.created", "response.in_progress", "response.queued"]);

/** Reads a streamed answer. With `source` the batches carry the upstream's own bytes, else typed steps. */
export function decodeStream(_request: RequestFacts, form: "events" | "source", asked?: WireRequest): StreamDecoder {
  return new ResponsesStreamDecoder(form, asked);
}

class ResponsesStreamDecoder implements StreamDecoder {
  private readonly reader: AnswerReader;
  private readonly framer = new SseFramer((data, raw) => this.takeEvent(data, raw));
  private readonly spans = new SpanJoiner();
  private readonly isTyped: boolean;
  /** Events that came before anything was generated: until something is, another target can still be asked. */
  private openings: Buffer[] | undefined = [];
  private isVisible = false;
  private isClosed = false;
  private error: GatewayError | undefined;
  /** True until the first byte that is no space: it tells a stream from what is none. */
  private isFresh = true;
  /** The reads of an answer that came whole although a stream was asked for. */
  private whole: Buffer[] | undefined;
  private wholeBytes = 0;

  constructor(form: "events" | "source", asked: WireRequest | undefined) {
    this.isTyped = form === "events";
    this.reader = new AnswerReader(this.isTyped, asked);
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
    } catch (error) {
      this.error = GatewayError.from(error);
    }
    return this.batch();
  }

  /** Takes one event off the framer. Nothing counts behind the end or an error. */
  private takeEvent(data: Buffer | undefined, raw: Buffer): void {
    if (this.error !== undefined || this.reader.complete) return;
    if (data === undefined || data.length === 0) {
      if (!this.isTyped && this.openings === undefined) this.spans.add(raw);
      return;
    }
    const event = objectOf(parsed(data.toString()));
    if (event === undefined) {
      // Some servers end this stream too as they end chat completions.
      if (!this.isClosed && data.toString("latin1", 0, 16).trim() !== "[DONE]")
        this.error = unreadable("its stream holds an event that cannot be read");
      return;
    }
    this.error = this.reader.read(event);
    if (this.error === undefined && !this.isTyped) this.forward(textOf(event["type"]), raw);
  }

  private forward(type: string, raw: Buffer): void {
    if (this.openings !== undefined && OPENINGS.has(type)) {
      // Copied, for the framer's memory is reused.
      this.openings.push(Buffer.from(raw));
      return;
    }
    for (const opening of this.openings ?? []) this.spans.add(opening);
    this.openings = undefined;
    this.isVisible = true;
    // The end is held back: the gateway tells it once the answer is settled.
    if (this.reader.complete) this.reader.ending = Buffer.from(raw);
    else this.spans.add(raw);
  }

  /** What was taken since the last batch. */
  private batch(): Batch {
    const events = this.reader.takeEvents();
    const visible = this.isVisible || events.length > 0;
    this.isVisible = false;
    return { events, source: this.spans.take(), visible, error: this.error };
  }

  /** Tells a stream from a page of HTML and from an answer that came whole. */
  private recognize(chunk: Buffer): void {
    for (const byte of chunk) {
      if (byte <= 0x20) continue;
      this.isFresh = false;
      if (byte === LESS_THAN) {
        this.error = unreadable("it answered with a page in place of a stream");
        throw this.error;
      }
      if (byte === OPEN_OBJECT) this.whole = [];
      return;
    }
  }

  private gather(whole: Buffer[], chunk: Buffer): Batch {
    this.wholeBytes += chunk.length;
    if (this.wholeBytes > WHOLE_ANSWER_BYTES_MAX) throw unreadable("its answer is too long");
    whole.push(chunk);
    return { events: NO_EVENTS, source: this.spans.take(), visible: false, error: undefined };
  }

  /** Tells an answer that came whole as the end of the stream that was asked for, which holds all of it. */
  private unfold(body: Buffer): void {
    this.whole = [];
    const response = objectOf(parsed(body.toString()));
    if (response === undefined) return;
    this.error = this.reader.readWhole(response);
    if (this.error !== undefined || this.isTyped || !this.reader.complete) return;
    this.isVisible = true;
    const type = textOf(response["status"]) === "incomplete" ? "response.incomplete" : "response.completed";
    const text = JSON.stringify({ type, sequence_number: 1, response });
    const opened = { ...response, status: "in_progress", output: [], usage: null };
    const created = JSON.stringify({ type: "response.created", sequence_number: 0, response: opened });
    this.spans.add(Buffer.from(`event: response.created\ndata: ${created}\n\n`));
    this.reader.ending = Buffer.from(`event: ${type}\ndata: ${text}\n\n`);
  }
}

function unreadable(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}
