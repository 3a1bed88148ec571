/** Whether a body is too much for the event loop: by its bytes, or by the values that a reader would make of them. */
import { longStrings } from "./long-string.js";

/** A longer body is not read on the event loop, where its every byte costs all other requests time. */
export const LONG_BODY_BYTES = 262_144;
/** Nor is one with more containers and commas: a translation makes a tree of them, at some microseconds each. */
const MARKS_MAX = 2_048;
/** A shorter body is not looked at: it has few values, and most requests are shorter. */
const LOOKED_AT_BYTES = 16_384;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
/** How far a string is looked at byte by byte; beyond, a search is quicker. */
const NEAR_BYTES = 128;

/** The most containers and commas of one event of a stream: what parsing and reading them takes is some 10 ms. */
const EVENT_MARKS_MAX = 32_768;

export function isLongBody(body: Buffer): boolean {
  if (body.length > LONG_BODY_BYTES) return true;
  return body.length > LOOKED_AT_BYTES && hasMoreMarks(body, MARKS_MAX);
}

/** The same of an answer in one piece, whose lists of numbers are passed quickly. */
const ANSWER_MARKS_MAX = 16_384;
/** The most of one that is read at all: a tree of so many values takes half a gigabyte. */
const READ_MARKS_MAX = 4_194_304;

/** True of a whole answer that is not read on the event loop. */
export function isLongAnswer(body: Buffer): boolean {
  if (body.length > LONG_BODY_BYTES) return true;
  return body.length > ANSWER_MARKS_MAX && hasMoreMarks(body, ANSWER_MARKS_MAX);
}

/** True of one that is not read anywhere. */
export function isUnreadable(body: Buffer): boolean {
  return body.length > READ_MARKS_MAX && hasMoreMarks(body, READ_MARKS_MAX);
}

/** True of an event that holds too many values to be read on the event loop, where all events are read. */
export function isHeavyEvent(data: Buffer): boolean {
  return data.length > EVENT_MARKS_MAX && hasMoreMarks(data, EVENT_MARKS_MAX);
}

/** True where JSON has more containers and commas than so many. */
function hasMoreMarks(body: Buffer, marksMax: number): boolean {
  let marks = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfString(body, at + 1);
    else if ((byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) && ++marks > marksMax) return true;
  }
  return false;
}

/** The closing quote of the string that begins here; the body's end where there is none. */
function endOfString(body: Buffer, start: number): number {
  let from = start;
  for (;;) {
    const near = Math.min(from + NEAR_BYTES, body.length);
    let at = from;
    while (at < near && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
    if (at < near) return at;
    // Where an escape ended the piece, the next byte is known to be no quote that closes.
    const quote = body.indexOf(QUOTE, at);
    if (quote < 0) return body.length;
    let slashes = 0;
    while (quote - slashes > at && body[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
    from = quote + 1;
    // A text that quotes once does so again and again, as code does: a search for each quote is slower than a look.
    if (longStrings === undefined) continue;
    const end = longStrings.pass(body, from);
    if (end >= body.length || body[end] === QUOTE) return end;
    // What no string may hold is for its reader to refuse.
    from = body[end] === BACKSLASH ? end + 2 : end + 1;
  }
}
