/** Whether words of an upstream's error are the client's own, repeated. */
import type { WireRequest } from "../wire.js";

/**
 * True where a request holds the words, in any case, and however its JSON spells their signs. They are of ASCII, as all
 * is that a wire's grammar knows.
 */
export function holdsWords(request: WireRequest, words: string): boolean {
  const signs = Array.from(words, (sign) => {
    const codes = [sign.toLowerCase(), sign.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
    return `(?:${/\w/.test(sign) ? sign : `\\${sign}`}|\\\\u00(?:${codes.join("|")}))`;
  });
  return new RegExp(signs.join(""), "i").test(textOf(request));
}

/** So many bytes are compared at once: whatever is repeated in a run of nearly twice as many is found. */
const RUN_BYTES = 12;
/** A longer request is not compared, which would take too long. */
const COMPARED_BYTES_MAX = 1024 * 1024;
/** So often the two may meet: the same few signs, again and again, meet everywhere. */
const COMPARED_MAX = 1_000;

/**
 * The text with dots in the place of each run of some 23 bytes or more that the request has, too. Empty where the
 * request is too long to be compared, or repeats itself too often.
 */
export function withoutEcho(text: string, request: WireRequest): string {
  const said = Buffer.from(text).toString("latin1");
  if (said.length < RUN_BYTES) return text;
  const asked = textOf(request);
  if (asked.length > COMPARED_BYTES_MAX) return "";
  const places = new Map<string, number[]>();
  for (let at = 0; at + RUN_BYTES <= said.length; at++) {
    const run = said.slice(at, at + RUN_BYTES);
    const known = places.get(run);
    if (known === undefined) places.set(run, [at]);
    else known.push(at);
  }
  const isEcho = new Uint8Array(said.length);
  let compared = 0;
  for (let at = 0; at + RUN_BYTES <= asked.length; at += RUN_BYTES) {
    for (const place of places.get(asked.slice(at, at + RUN_BYTES)) ?? []) {
      compared += 1;
      if (compared > COMPARED_MAX) return "";
      let [start, end] = [place, place + RUN_BYTES];
      while (start > 0 && said[start - 1] === asked[at - (place - start) - 1]) start -= 1;
      while (end < said.length && said[end] === asked[at + (end - place)]) end += 1;
      isEcho.fill(1, start, end);
    }
  }
  let kept = "";
  for (let at = 0; at < said.length; at++) {
    if (isEcho[at] === 0) kept += said[at];
    else if (isEcho[at - 1] !== 1) kept += "...";
  }
  return Buffer.from(kept, "latin1").toString("utf8").replaceAll("\uFFFD", "");
}

/** What a request says, as text: a character for each byte of UTF-8. */
export function textOf(request: WireRequest): string {
  const { source, embedding } = request;
  if (source !== undefined) return source.body.toString("latin1");
  const said = embedding === undefined ? request.prompt() : embedding.inputs();
  const text = JSON.stringify(said, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  return Buffer.from(text).toString("latin1");
}
