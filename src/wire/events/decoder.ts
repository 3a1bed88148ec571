/** What every wire of server-sent events does with a stream: frames, batches, pages, and answers in one piece. */
import { GatheredBytes } from "../../base/bytes/gathered-bytes.js";
import { firstSign, withoutByteOrderMark } from "../../base/bytes/byte-order-mark.js";
import type { Event } from "../../api/index.js";
import type { GatewayError } from "../../base/errors.js";
import { unreadable, upstreamFailed } from "../error/refusals.js";
import { eventBytes, joinedEvent, readableEvents } from "./writer.js";
import { type JsonObject, objectOf, parsed, textOf } from "../json/value.js";
import { isHeavyEvent } from "../json/weight.js";
import { SpanJoiner } from "./span-joiner.js";
import { SSE_LINE_BYTES_MAX, SseFramer } from "./framer.js";
import type { AnswerForm, AnswerReport, Batch, StreamDecoder } from "../wire.js";

/** As long as one line of a stream may be. One that is told to be JSON is read elsewhere, and may be longer. */
const WHOLE_ANSWER_BYTES_MAX = SSE_LINE_BYTES_MAX;
const NO_EVENTS: Event[] = [];
const LESS_THAN = 0x3c;

/** Reads the events of one wire into a report and steps. */
export interface EventReader extends AnswerReport {
  /** Returns the error that the event tells. `data` is what the event was parsed from. */
  read(event: JsonObject, data?: Buffer): GatewayError | undefined;
  /** The steps since the last time. */
  takeEvents(): Event[];
  /** The events by which the wire ends, at this place, an answer that reached its limit of output. */
  endAtLimit(outputTokens: number): readonly JsonObject[];
}

/** A wire says what an event means to it; everything else is here. */
export abstract class SseStreamDecoder<Reader extends EventReader> implements StreamDecoder {
  protected readonly spans = new SpanJoiner();
  protected readonly isTyped: boolean;
  /** True once the upstream closed: an event that cannot be read then was cut, and is none. */
  protected isClosed = false;
  protected isVisible = false;
  protected error: GatewayError | undefined;
  readonly #framer = new SseFramer((data, raw, isSplit) => this.#take(data, raw, isSplit));
  /** The first bytes of an answer that came in one piece although a stream was asked for. */
  readonly #wholeStarts: readonly number[];
  /** True until the first byte that is no space: it tells a stream from what is none. */
  #isFresh = true;
  #whole: GatheredBytes | undefined;

  /** With `source` the batches carry the upstream's own bytes, else typed steps. */
  constructor(
    protected readonly reader: Reader,
    form: AnswerForm,
    wholeStarts: readonly number[],
  ) {
    this.isTyped = form === "events";
    this.#wholeStarts = wholeStarts;
  }

  get report(): AnswerReport {
    return this.reader;
  }

  push(chunk: Buffer): Batch {
    if (this.error !== undefined) return this.batch();
    if (this.#isFresh) this.#recognize(chunk);
    try {
      if (this.#whole === undefined) this.#framer.push(chunk);
      else this.#gather(this.#whole, chunk);
    } catch (error) {
      this.error = unreadable(error);
    }
    return this.batch();
  }

  end(): Batch {
    if (this.error !== undefined) return this.batch();
    try {
      this.isClosed = true;
      if (this.#whole === undefined) this.#framer.end();
      else this.#unfoldOnce(withoutByteOrderMark(this.#whole.take()));
      if (this.error === undefined) this.close();
    } catch (error) {
      this.error = unreadable(error);
    }
    return this.batch();
  }

  cut(outputTokens: number): Batch {
    for (const event of this.reader.endAtLimit(outputTokens)) {
      const name = textOf(event["type"]);
      const data = JSON.stringify(event);
      this.takeEvent(Buffer.from(data), eventBytes(name, data));
    }
    this.isClosed = true;
    if (this.error === undefined) this.close();
    return this.batch();
  }

  /** True once nothing counts any more that comes. */
  abstract get isDone(): boolean;
  /** Takes an event that was read without an error, to forward its bytes or not. */
  protected abstract forward(event: JsonObject, data: Buffer, raw: Buffer): void;
  /** Reads an answer that came in one piece. */
  protected abstract unfold(body: Buffer): void;

  /** Takes what comes between events, such as a comment. */
  protected forwardQuiet(raw: Buffer): void {
    if (!this.isTyped) this.spans.add(raw);
  }

  /** True for data that is no JSON and yet no error, such as another wire's mark of the end. */
  protected isMark(_data: Buffer): boolean {
    return false;
  }

  /** The upstream closed, and nothing was wrong: what was held back comes out. */
  protected close(): void {}

  /** Takes one event off the framer, or out of a whole answer. */
  protected takeEvent(data: Buffer, raw: Buffer): void {
    if (isHeavyEvent(data)) throw upstreamFailed("an event of its stream holds too many values");
    const event = objectOf(parsed(data.toString()));
    if (event === undefined) {
      // Some servers keep a stream alive with it, and no client reads it.
      if (!this.isClosed && data.toString("latin1").trim() !== "null" && !this.isMark(data))
        this.error = upstreamFailed("its stream holds an event that cannot be read");
      return;
    }
    this.accept(event, data, raw);
  }

  /** Reads an event, and forwards it where it tells no error. */
  protected accept(event: JsonObject, data: Buffer, raw: Buffer): void {
    this.error = this.reader.read(event, data);
    if (this.error === undefined) this.forward(event, data, raw);
  }

  protected takeEvents(): Event[] {
    return this.reader.takeEvents();
  }

  /** What was taken since the last batch. */
  protected batch(): Batch {
    const events = this.isTyped ? this.takeEvents() : NO_EVENTS;
    const visible = this.isVisible || holdsOutput(events);
    this.isVisible = false;
    return { events, source: readableEvents(this.spans.take()), visible, error: this.error };
  }

  #take(data: Buffer | undefined, raw: Buffer, isSplit: boolean): void {
    if (this.error !== undefined || this.isDone) return;
    if (data === undefined || data.length === 0) this.forwardQuiet(raw);
    else if (isSplit) {
      const joined = joinedEvent(data, raw);
      this.takeEvent(joined.data, joined.raw);
    } else this.takeEvent(data, raw);
  }

  /** Tells a stream from a page of HTML and from an answer that came in one piece. */
  #recognize(chunk: Buffer): void {
    const byte = firstSign(chunk);
    if (byte === undefined) return;
    this.#isFresh = false;
    if (byte === LESS_THAN) {
      this.error = upstreamFailed("it answered with a page in place of a stream");
      throw this.error;
    }
    if (this.#wholeStarts.includes(byte)) this.#whole = new GatheredBytes();
  }

  #unfoldOnce(body: Buffer): void {
    if (body.length === 0) return;
    if (isHeavyEvent(body)) throw upstreamFailed("its answer holds too many values");
    this.unfold(body);
  }

  #gather(whole: GatheredBytes, chunk: Buffer): void {
    whole.add(chunk);
    if (whole.length > WHOLE_ANSWER_BYTES_MAX) throw upstreamFailed("its answer is too long");
  }
}

/** False of nothing, and of a beginning alone. */
export function holdsOutput(events: readonly Event[]): boolean {
  return events.length > 1 || (events.length === 1 && events[0]?.kind?.$case !== "start");
}
