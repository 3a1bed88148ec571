/** Recognizes JSON that differs from an earlier one in some of its strings alone, without parsing it. */
import { JsonCursor } from "./cursor.js";
import { readMembers } from "./splice.js";
import { parsed } from "./value.js";

/** Where a value stands: the names of members, and 0 for the only element of a list. */
export type JsonPath = readonly (string | 0)[];

interface Span {
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** One JSON, of which some strings may differ. */
export class TextTemplate {
  private constructor(
    /** The bytes around those strings, with their quotes. */
    private readonly fixed: readonly Buffer[],
    /** Which of the strings is read. */
    private readonly textPlace: number,
  ) {}

  /**
   * The string at `text` may differ, and those at `others` where they are there. Undefined where `text` is no string,
   * and of what a strict reader refuses, such as a key that occurs twice: then it is not certain which string counts.
   */
  static of(json: Buffer, text: JsonPath, others: readonly JsonPath[] = []): TextTemplate | undefined {
    const read = stringAt(json, text);
    if (read === undefined) return undefined;
    const spans = [read];
    for (const path of others) {
      const span = stringAt(json, path);
      if (span !== undefined) spans.push(span);
    }
    spans.sort((one, other) => one.start - other.start);
    // A copy, since it outlives the memory of one read.
    const kept = Buffer.from(json);
    const fixed = spans.map(({ start }, place) => kept.subarray(closingQuote(spans[place - 1]), start + 1));
    fixed.push(kept.subarray(closingQuote(spans.at(-1))));
    return new TextTemplate(fixed, spans.indexOf(read));
  }

  /** The text of JSON that differs in nothing else, as a parser reads it; undefined of any other bytes. */
  read(json: Buffer): string | undefined {
    const { fixed } = this;
    const last = fixed.length - 1;
    let text: string | undefined;
    let at = 0;
    for (let place = 0; place <= last; place++) {
      const piece = fixed[place];
      if (piece === undefined || !standsAt(piece, json, at)) return undefined;
      at += piece.length;
      if (place === last) break;
      const start = at;
      let isPlain = true;
      for (; at < json.length && json[at] !== QUOTE; at++) {
        if ((json[at] ?? 0) < SPACE) return undefined;
        if (json[at] !== BACKSLASH) continue;
        isPlain = false;
        at++;
      }
      at = Math.min(at, json.length);
      if (isPlain && place !== this.textPlace) continue;
      const value = isPlain ? json.toString("utf8", start, at) : parsed(json.toString("utf8", start - 1, at + 1));
      if (typeof value !== "string") return undefined;
      if (place === this.textPlace) text = value;
    }
    return at === json.length ? text : undefined;
  }
}

/** True where the piece stands there. Compared in place: a view for it takes longer than the comparison. */
function standsAt(piece: Buffer, json: Buffer, at: number): boolean {
  const end = at + piece.length;
  return end <= json.length && json.compare(piece, 0, piece.length, at, end) === 0;
}

function closingQuote(span: Span | undefined): number {
  return span === undefined ? 0 : span.end - 1;
}

/** The string at a path, its quotes included; undefined where there is none, or more than one may be meant. */
function stringAt(json: Buffer, path: JsonPath): Span | undefined {
  let span: Span = { start: 0, end: json.length };
  try {
    for (const name of path) {
      const found = valueAt(json.subarray(span.start, span.end), name);
      if (found === undefined) return undefined;
      span = { start: span.start + found.start, end: span.start + found.end };
    }
  } catch {
    return undefined;
  }
  return json[span.start] === QUOTE ? span : undefined;
}

/** The member of an object, or the only element of a list. Throws BODY_INVALID. */
function valueAt(json: Buffer, name: string | 0): Span | undefined {
  const cursor = new JsonCursor(json);
  if (name !== 0) {
    const member = readMembers(cursor).find(({ key }) => key === name);
    cursor.finish();
    return member === undefined ? undefined : { start: member.valueStart, end: member.end };
  }
  cursor.enterArray();
  if (!cursor.nextItem()) return undefined;
  const start = cursor.at;
  cursor.skip();
  const end = cursor.at;
  return cursor.nextItem() ? undefined : { start, end };
}
