/** Reads a stream of OpenAI's chunks, of whichever wire they are: server-sent events to batches. */
import type { Event, Usage } from "../api/index.js";
import { GatewayError } from "../errors.js";
import { type JsonObject, listOf, objectOf, parsed } from "./json/value.js";
import { SseFramer } from "./sse.js";
import { withoutNullUsage } from "./openai-usage-cut.js";
import { SpanJoiner } from "./span-joiner.js";
import type {
  AnswerReport,
  Batch,
  DecodedAnswer,
  RequestFacts,
  StreamDecoder,
  StreamEncoder,
  WireRequest,
} from "./wire.js";

/** Reads the chunks of one wire, or one whole answer, into text and steps. */
export interface ChunkReader extends AnswerReport {
  /** True once the upstream said in so many words that nothing follows. */
  isDone: boolean;
  /** True once the upstream closed. */
  isClosed: boolean;
  /** Returns the error that the chunk tells. */
  read(chunk: JsonObject): GatewayError | undefined;
  /** Nothing follows: what was held back comes out. */
  finish(): void;
  /** The steps since the last time. */
  takeEvents(): Event[];
}

/** What a wire of chunks does with an answer that came whole although a stream was asked for. */
export interface ChunkWire {
  decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer;
  encodeStream(request: RequestFacts): StreamEncoder & { usage(usage: Usage | undefined): Buffer };
}

const WHOLE_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const NO_EVENTS: Event[] = [];
const DONE = Buffer.from("[DONE]");

const OPEN_OBJECT = 0x7b;
const LESS_THAN = 0x3c;

/** With `source` the batches carry the upstream's own bytes, else typed steps. */
export class ChunkStreamDecoder implements StreamDecoder {
  private readonly framer = new SseFramer((data, raw) => this.takeEvent(data, raw));
  private readonly spans = new SpanJoiner();
  private readonly isTyped: boolean;
  private isVisible = false;
  private error: GatewayError | undefined;
  /** True until the first byte that is no space: it tells a stream from what is none. */
  private isFresh = true;
  /** The reads of an answer that came whole although a stream was asked for. */
  private whole: Buffer[] | undefined;
  private wholeBytes = 0;
  private wholeReport: AnswerReport | undefined;

  constructor(
    private readonly request: RequestFacts,
    form: "events" | "source",
    private readonly reader: ChunkReader,
    private readonly wire: ChunkWire,
    private readonly asked: WireRequest | undefined,
  ) {
    this.isTyped = form === "events";
  }

  get report(): AnswerReport {
    return this.wholeReport ?? this.reader;
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
    if (this.whole !== undefined) return this.unfold(Buffer.concat(this.whole));
    // An event that was cut is no event: what cannot be read now was never finished.
    this.reader.isClosed = true;
    this.framer.end();
    this.reader.finish();
    return this.batch();
  }

  /** Takes one event off the framer. Nothing counts behind the end or an error. */
  private takeEvent(data: Buffer | undefined, raw: Buffer): void {
    if (this.error !== undefined || this.reader.isDone) return;
    if (data === undefined || data.length === 0) {
      if (!this.isTyped) this.spans.add(raw);
      return;
    }
    if (isDone(data)) {
      // It is held back: the gateway tells the end itself, once the answer is settled.
      this.reader.isDone = true;
      this.reader.finish();
      return;
    }
    const chunk = objectOf(parsed(data.toString()));
    if (chunk === undefined) {
      if (!this.reader.isClosed) this.error = unreadable("its stream holds an event that cannot be read");
      return;
    }
    this.error = this.reader.read(chunk);
    if (this.error === undefined && !this.isTyped) this.forward(chunk, data, raw);
  }

  /** Adds an event's own bytes, without the usage that the client did not ask for. */
  private forward(chunk: JsonObject, data: Buffer, raw: Buffer): void {
    if (!this.request.includeUsage && "usage" in chunk) {
      const isEmpty = listOf(chunk["choices"]).length === 0;
      if (isEmpty && objectOf(chunk["usage"]) !== undefined) return;
      if (chunk["usage"] === null) {
        this.isVisible = true;
        for (const span of withoutNullUsage(data, raw)) this.spans.add(span);
        return;
      }
    }
    this.isVisible = true;
    this.spans.add(raw);
  }

  /** What was taken since the last batch. */
  private batch(): Batch {
    const events = this.isTyped ? this.reader.takeEvents() : NO_EVENTS;
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
    return this.batch();
  }

  /** Tells an answer that came whole as the stream that was asked for. */
  private unfold(body: Buffer): Batch {
    this.whole = [];
    if (body.length === 0 || this.wholeReport !== undefined) return this.batch();
    let events: Event[];
    try {
      const answer = this.wire.decodeAnswer(body, this.asked);
      this.wholeReport = answer.report;
      events = answer.events();
    } catch (error) {
      this.error = GatewayError.from(error);
      return this.batch();
    }
    if (this.isTyped) return { events, source: this.spans.take(), visible: true, error: undefined };
    const encoder = this.wire.encodeStream(this.request);
    const source = Buffer.concat([encoder.push(events), encoder.usage(this.wholeReport.usage)]);
    return { events: NO_EVENTS, source, visible: true, error: undefined };
  }
}

function isDone(data: Buffer): boolean {
  return data.length >= DONE.length && data.length < 16 && data.toString("latin1").trim() === "[DONE]";
}

function unreadable(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}
