/**
 * The one writer of server-sent events. What it writes stands on one line each, whatever a codec hands it: raw JSON of
 * a client or of a model may hold line ends between its tokens, and one of them would end the event in its middle.
 */
import { isAscii } from "node:buffer";
import type { Event } from "../../api/index.js";
import { asUtf8 } from "../../base/bytes/utf8.js";
import type { GatewayError } from "../../base/errors.js";

/** A line end between tokens, and the indent behind it. */
const LINE_BREAKS = /[\r\n][ \t\r\n]*/g;
/** What some readers take for line ends, though no rule of events says so. In JSON it stands in strings alone. */
const WIDE_BREAKS = /[\u0085\u2028\u2029]/g;

const WIDE_SIGNS = ["\u0085", "\u2028", "\u2029"].map((sign) => Buffer.from(sign));

const EVENT_END = Buffer.from("\n\n");

/** JSON on one line, as the same value. Looks for single signs cost a tenth of what an expression does. */
export function oneLine(json: string): string {
  const hasBreaks = json.includes("\n") || json.includes("\r");
  const told = hasBreaks ? json.replace(LINE_BREAKS, "") : json;
  const hasWide = told.includes("\u2028") || told.includes("\u2029") || told.includes("\u0085");
  return hasWide ? told.replace(WIDE_BREAKS, escaped) : told;
}

function escaped(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Events of an upstream's own, as every reader of lines and of UTF-8 takes them: some refuse a stream for a byte that
 * is none, and some end a line where only a text goes on. Nearly always the same bytes.
 */
export function readableEvents(bytes: Buffer): Buffer {
  // One look for what nearly all reads are, instead of a check and three searches.
  if (isAscii(bytes)) return bytes;
  const hasWide = WIDE_SIGNS.some((sign) => bytes.includes(sign));
  return hasWide ? Buffer.from(bytes.toString().replace(WIDE_BREAKS, escaped)) : asUtf8(bytes);
}

class EventWriter {
  #text = "";

  /** An event without a name. */
  data(json: string): void {
    this.#text += eventText("", json);
  }

  named(name: string, json: string): void {
    this.#text += eventText(name, json);
  }

  /** Everything since the last time. */
  take(): Buffer {
    const bytes = Buffer.from(this.#text);
    this.#text = "";
    return bytes;
  }
}

/** One event. Without a name it has its data alone. */
export function eventText(name: string, json: string): string {
  const data = `data: ${oneLine(json)}\n\n`;
  return name === "" ? data : `event: ${oneLine(name)}\n${data}`;
}

/** An event without a name by whose id its reader can go on. Without an id it has its data alone. */
export function identifiedEvent(id: string, json: string): string {
  const event = eventText("", json);
  return id === "" ? event : `id: ${oneLine(id)}\n${event}`;
}

export function eventBytes(name: string, json: string): Buffer {
  return Buffer.from(eventText(name, json));
}

/** An event whose data came in several lines, with the data on one. Its other lines stay as they are. */
export function joinedEvent(data: Buffer, raw: Buffer): { readonly data: Buffer; readonly raw: Buffer } {
  const others = raw
    .toString()
    .split(/\r\n|\r|\n/)
    .filter((line) => line !== "" && !/^data(:|$)/.test(line));
  const head = Buffer.from(`${others.map((line) => `${line}\n`).join("")}data: `);
  const joined = Buffer.from(oneLine(data.toString()));
  const whole = Buffer.concat([head, joined, EVENT_END]);
  return { data: whole.subarray(head.length, head.length + joined.length), raw: whole };
}

/** Of one in UTF-16. */
const CHARACTER_BYTES = 2;
/** What V8 takes for a short text that is added to another, or that waits in a list. */
const PIECE_BYTES = 80;

/** Writes one answer for a client, streamed. A codec says what is told; only the writer makes bytes of it. */
export abstract class StreamEncoder {
  protected readonly out = new EventWriter();
  #keptBytes = 0;

  /**
   * The most memory that it held the answer in at once, or an upper bound: what the end of the stream repeats, and what
   * cannot be told yet.
   */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** A codec says here what it holds on to. */
  protected keep(text: string): void {
    this.#keptBytes += text.length * CHARACTER_BYTES + PIECE_BYTES;
  }

  /** The same of so many bytes, however many pieces they came in. */
  protected keepBytes(bytes: number): void {
    this.#keptBytes += bytes;
  }

  /** The bytes that tell these events; may be empty. */
  push(events: readonly Event[]): Buffer {
    this.tell(events);
    return this.out.take();
  }

  /** The bytes that end a stream that did not end well. It never looks complete. */
  fail(error: GatewayError): Buffer {
    this.tellFailure(error);
    return this.out.take();
  }

  protected abstract tell(events: readonly Event[]): void;
  protected abstract tellFailure(error: GatewayError): void;
}
