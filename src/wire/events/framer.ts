/** Cuts a stream of server-sent events into whole events, wherever its bytes were cut on the way. */
import { upstreamFailed } from "../error/refusals.js";

export const SSE_LINE_BYTES_MAX = 1024 * 1024;
export const SSE_EVENT_BYTES_MAX = 4 * 1024 * 1024;
/** Most events have two; JSON that its sender wrote with indents has some thousands. */
const EVENT_LINES_MAX = 16_384;

/**
 * Takes one event: its data, undefined where it has none (a comment), and all its bytes as they came, but for a byte
 * order mark before the first. `isSplit` is true where its data stood in several lines.
 */
export type SseSink = (data: Buffer | undefined, raw: Buffer, isSplit: boolean) => void;

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const DATA = [0x64, 0x61, 0x74, 0x61] as const;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);
const LINE_END = Buffer.from("\n");

/**
 * One stream's framing. An event that one read holds whole is handed on without a copy; what a read leaves unfinished
 * is carried over, within bounds. Throws UPSTREAM_FAILED where a bound is passed.
 */
export class SseFramer {
  /** What is not handed on yet, and how much of it is filled: it has room to grow. */
  private held: Buffer = NOTHING;
  private length = 0;
  /** Where the next line end is looked for. */
  private scanned = 0;
  private lineStart = 0;
  /** The first data line of the event that is read; -1 where it has none. */
  private dataStart = -1;
  private dataEnd = -1;
  /** Starts and ends of all its data lines, where there are several. */
  private dataSpans: number[] | undefined;
  /** How many lines of any kind the event has. */
  private lines = 0;
  /** True where the last line ended in a CR whose LF may still come. */
  private awaitsLf = false;
  private isFirstLine = true;
  /** True where the mark stands before the event that is read. In a stream of ours it would spoil a field's name. */
  private hasByteOrderMark = false;
  /** True once a CR was followed by its LF: the next CR will be too, and is not taken for a line end without it. */
  private usesCrLf = false;

  /** The bounds are for streams of others: our own events are as long as what they tell. */
  constructor(
    private readonly sink: SseSink,
    private readonly lineBytesMax = SSE_LINE_BYTES_MAX,
    private readonly eventBytesMax = SSE_EVENT_BYTES_MAX,
  ) {}

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.append(chunk);
    const view = part(this.held, 0, this.length);
    let start = 0;
    let cr = view.indexOf(CR, this.scanned);
    while (this.scanned < this.length) {
      if (this.awaitsLf) {
        this.awaitsLf = false;
        if (view[this.scanned] !== LF) continue;
        this.usesCrLf = true;
        this.lineStart = ++this.scanned;
        continue;
      }
      // The line that ends an event is empty, and one look is cheaper than a search.
      const lf = view[this.scanned] === LF ? this.scanned : view.indexOf(LF, this.scanned);
      if (cr !== -1 && cr < this.scanned) cr = view.indexOf(CR, this.scanned);
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      if (end === -1 || (end === cr && end + 1 === this.length && this.usesCrLf)) {
        this.scanned = end === -1 ? this.length : end;
        break;
      }
      this.awaitsLf = end === cr;
      this.scanned = end + 1;
      if (this.awaitsLf && view[this.scanned] === LF) {
        this.awaitsLf = false;
        this.usesCrLf = true;
        this.scanned++;
      }
      if (this.takeLine(end)) start = this.dispatch(start, this.scanned);
      this.lineStart = this.scanned;
    }
    this.carry(start);
  }

  /** The stream closed. An event whose last line ends are missing is handed on, with them. */
  end(): void {
    if (this.scanned < this.length) this.push(LINE_END);
    if (this.lineStart < this.length) this.takeLine(this.length);
    if (this.dataStart === -1) return;
    const whole = Buffer.concat([this.held.subarray(0, this.length), LINE_END, LINE_END]);
    // One line end is enough behind a line that has its own; a CR would take it for its LF.
    const hasLineEnd = this.lineStart === this.length && !this.awaitsLf;
    this.held = whole;
    this.dispatch(0, hasLineEnd ? whole.length - 1 : whole.length);
    this.carry(this.length);
  }

  /** Takes one read behind what is held. */
  private append(chunk: Buffer): void {
    if (this.length === 0) {
      this.held = chunk;
      this.length = chunk.length;
      return;
    }
    const needed = this.length + chunk.length;
    if (needed > this.held.length) {
      // Doubled, so that an event that comes byte by byte is copied a few times and not once a byte.
      const roomier = Buffer.allocUnsafeSlow(Math.max(needed, this.held.length * 2));
      this.held.copy(roomier, 0, 0, this.length);
      this.held = roomier;
    }
    chunk.copy(this.held, this.length);
    this.length = needed;
  }

  /** Reads the line that ends at `end`. True where it is the empty line that ends an event. */
  private takeLine(end: number): boolean {
    const { held } = this;
    let start = this.lineStart;
    if (this.isFirstLine) {
      this.isFirstLine = false;
      this.hasByteOrderMark = held.subarray(start, end).indexOf(BYTE_ORDER_MARK) === 0;
      if (this.hasByteOrderMark) start += BYTE_ORDER_MARK.length;
    }
    if (end - start > this.lineBytesMax) throw upstreamFailed("a line of its stream is too long");
    if (start === end) return this.lines > 0;
    if (++this.lines > EVENT_LINES_MAX) throw upstreamFailed("an event of its stream has too many lines");
    if (!isDataLine(held, start, end)) return false;
    let value = Math.min(start + DATA.length + 1, end);
    if (value < end && held[value] === SPACE) value++;
    // Nearly every event has one line.
    if (this.dataStart !== -1) (this.dataSpans ??= [this.dataStart, this.dataEnd]).push(value, end);
    else {
      this.dataStart = value;
      this.dataEnd = end;
    }
    return false;
  }

  /** Hands one event on. Returns where the next one starts. */
  private dispatch(start: number, end: number): number {
    if (end - start > this.eventBytesMax) throw upstreamFailed("an event of its stream is too long");
    let data: Buffer | undefined;
    const isSplit = this.dataSpans !== undefined;
    if (this.dataSpans !== undefined) data = joined(this.held, this.dataSpans);
    else if (this.dataStart !== -1) data = this.held.subarray(this.dataStart, this.dataEnd);
    this.dataStart = -1;
    this.dataSpans = undefined;
    this.lines = 0;
    const rawStart = this.hasByteOrderMark ? start + BYTE_ORDER_MARK.length : start;
    this.hasByteOrderMark = false;
    this.sink(data, part(this.held, rawStart, end), isSplit);
    return end;
  }

  /** Keeps what was not handed on, apart from memory that was. */
  private carry(start: number): void {
    const left = this.length - start;
    if (left > this.eventBytesMax) throw upstreamFailed("an event of its stream is too long");
    if (this.length - this.lineStart > this.lineBytesMax) throw upstreamFailed("a line of its stream is too long");
    // Nothing of it was handed on, so it may grow where it is.
    if (start === 0 && left > 0) return;
    this.held = left === 0 ? NOTHING : Buffer.from(this.held.subarray(start, this.length));
    this.length = left;
    this.scanned -= start;
    this.lineStart -= start;
    if (this.dataStart === -1) return;
    this.dataStart -= start;
    this.dataEnd -= start;
    this.dataSpans = this.dataSpans?.map((place) => place - start);
  }
}

function isDataLine(bytes: Buffer, start: number, end: number): boolean {
  const nameEnd = start + DATA.length;
  if (end < nameEnd) return false;
  for (let place = 0; place < DATA.length; place++) if (bytes[start + place] !== DATA[place]) return false;
  return end === nameEnd || bytes[nameEnd] === COLON;
}

/** A part of the bytes; all of them are no new object. */
function part(bytes: Buffer, start: number, end: number): Buffer {
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}

/** The data of several lines, with a line feed between two. */
function joined(bytes: Buffer, spans: readonly number[]): Buffer {
  const pieces: Buffer[] = [];
  for (let place = 0; place < spans.length; place += 2) {
    if (place > 0) pieces.push(LINE_END);
    pieces.push(bytes.subarray(spans[place], spans[place + 1]));
  }
  return Buffer.concat(pieces);
}
