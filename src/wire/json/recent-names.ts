/** The names of members that came lately, each one string: nearly all bodies have the same few. */

/** To make a string of bytes takes a call out of the engine; to see that they are a known one, a tenth of it. */
const recent: string[] = Array.from({ length: 256 }, () => "");
/** Of a longer one nobody's wire has any. */
export const NAME_BYTES_MAX = 64;

/** The text of these bytes, which are UTF-8. */
export function nameIn(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  const place = (31 * (bytes[start] ?? 0) + (bytes[end - 1] ?? 0) + 7 * length) & 0xff;
  const known = recent[place];
  if (known?.length === length && isAt(known, bytes, start)) return known;
  const text = bytes.toString("utf8", start, end);
  // As many characters as bytes: all of them are ASCII, and so comparable one by one.
  if (text.length === length && length <= NAME_BYTES_MAX) recent[place] = text;
  return text;
}

function isAt(text: string, bytes: Buffer, start: number): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
