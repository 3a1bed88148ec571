/**
 * Takes the vectors out of an answer by their bytes: they are nearly all of it, and in the common case nobody looks at
 * a single number.
 */
import { upstreamFailed } from "../../error/refusals.js";
import { isUnreadable } from "../../json/weight.js";

/** One vector, as it stands in the answer. */
export interface VectorSpan {
  readonly encoding: "float" | "base64";
  /** The value, with its brackets or quotes. */
  readonly bytes: Buffer;
  readonly start: number;
}

const KEY = Buffer.from('"embedding"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** The answer with a number in place of each vector: its place among `spans`. Throws UPSTREAM_FAILED. */
export function cutVectors(body: Buffer): { readonly frame: string; readonly spans: readonly VectorSpan[] } {
  const spans: VectorSpan[] = [];
  for (let at = body.indexOf(KEY); at !== -1;) {
    const span = vectorAt(body, at);
    if (span !== undefined) spans.push(span);
    at = body.indexOf(KEY, span === undefined ? at + KEY.length : span.start + span.bytes.length);
  }
  const frame = rejoin(body, spans, (_, place) => String(place));
  // Only the numbers of vectors are passed unread: what else an upstream fills its answer with is parsed.
  if (isUnreadable(frame)) throw upstreamFailed("its answer holds too many values");
  return { frame: frame.toString(), spans };
}

/** The answer with another text in place of each vector. */
export function rejoin(
  body: Buffer,
  spans: readonly VectorSpan[],
  write: (span: VectorSpan, place: number) => string,
): Buffer {
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const [place, span] of spans.entries()) {
    pieces.push(body.subarray(kept, span.start), Buffer.from(write(span, place)));
    kept = span.start + span.bytes.length;
  }
  pieces.push(body.subarray(kept));
  return Buffer.concat(pieces);
}

/** The vector behind a key; undefined where the key is a value, part of a text, or has something else behind it. */
function vectorAt(body: Buffer, key: number): VectorSpan | undefined {
  if (body[key - 1] === BACKSLASH) return undefined;
  const colon = behindSpace(body, key + KEY.length);
  if (body[colon] !== COLON) return undefined;
  const start = behindSpace(body, colon + 1);
  const first = body[start];
  if (first !== QUOTE && first !== OPEN) return undefined;
  // Several vectors for one input are no vector: they pass as they are.
  if (first === OPEN && body[behindSpace(body, start + 1)] === OPEN) return undefined;
  const end = body.indexOf(first === OPEN ? CLOSE : QUOTE, start + 1) + 1;
  if (end === 0) throw upstreamFailed("its answer ends in a vector");
  return { encoding: first === OPEN ? "float" : "base64", bytes: body.subarray(start, end), start };
}

function behindSpace(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++;
  return at;
}
