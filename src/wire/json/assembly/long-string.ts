/**
 * Passes the plain text and the escapes inside a JSON string, 64 bytes at a time. AssemblyScript, not TypeScript:
 * `npm run gen` makes the module of `gen/wasm/long-string.ts` out of it.
 *
 * Which bytes are escaped is found without a branch for each backslash: a run of backslashes escapes what follows it
 * where its length is odd, and the sum of a run's first bit and the run carries into the bit behind it (the method of
 * simdjson: Langdale and Lemire, "Parsing Gigabytes of JSON per Second", 2019, 3.1.1).
 */

/** Where the caller puts the text; below it is the compiler's own. */
export const WINDOW: usize = 1024;
export const WINDOW_BYTES: i32 = 65536;

const QUOTE: u8 = 0x22;
const BACKSLASH: u8 = 0x5c;
const SPACE: u8 = 0x20;
const LETTER_U: u8 = 0x75;
const EVEN_BITS: u64 = (u64(0x55555555) << 32) | 0x55555555;

/** Flags of what was passed: any escape, and a sign spelled as u and its number. */
export const SAW_ESCAPE: i32 = 1;
export const SAW_SPELLED: i32 = 2;

let seen: i32 = 0;

/** What the last pass saw. */
export function flags(): i32 {
  return seen;
}

/**
 * Passes the first `length` bytes of the window, which begin inside a string and not behind a backslash. Returns the
 * place of the first quote that is not escaped, of a byte that may not stand in a string, or of the backslash of an
 * escape that is wrong or that the window cuts; `length` where there is none.
 */
export function pass(length: i32): i32 {
  seen = 0;
  // Zeros may not stand in a string, so they end every pass; and they are no digits of an escape that the window cuts.
  const end = WINDOW + length;
  for (let word = 0; word < 64; word += 16) v128.store(end + word, i8x16.splat(0));
  // 1 where the byte before the block is a backslash that escapes its first byte.
  let carried: u64 = 0;
  let at = 0;
  while (true) {
    const block = WINDOW + at;
    const a = v128.load(block);
    const b = v128.load(block, 16);
    const c = v128.load(block, 32);
    const d = v128.load(block, 48);
    let stops = bits(stopsOf(a), stopsOf(b), stopsOf(c), stopsOf(d));
    let slashes = bits(equals(a, BACKSLASH), equals(b, BACKSLASH), equals(c, BACKSLASH), equals(d, BACKSLASH));
    if ((slashes | carried) != 0) {
      slashes &= ~carried;
      const follows = (slashes << 1) | carried;
      const oddStarts = slashes & ~EVEN_BITS & ~follows;
      const ends = oddStarts + slashes;
      carried = u64(ends < slashes);
      const escaped = (EVEN_BITS ^ (ends << 1)) & follows;
      const known = bits(escapable(a), escapable(b), escapable(c), escapable(d));
      const quotes = bits(equals(a, QUOTE), equals(b, QUOTE), equals(c, QUOTE), equals(d, QUOTE));
      stops &= ~(quotes & escaped);
      stops |= escaped & ~known;
      const spelled =
        escaped & bits(equals(a, LETTER_U), equals(b, LETTER_U), equals(c, LETTER_U), equals(d, LETTER_U));
      const passed = stops == 0 ? escaped : escaped & below(stops);
      if (passed != 0) seen |= SAW_ESCAPE;
      const broken = brokenNumber(block, spelled & passed);
      if (broken >= 0) return at + broken - 1;
      if (stops != 0) {
        const stop = i32(ctz(stops));
        // Of an escape that is wrong, the place is that of its backslash.
        return at + stop - i32((escaped >> stop) & 1);
      }
    } else if (stops != 0) return at + i32(ctz(stops));
    at += 64;
  }
}

/** Of the signs that are spelled there, the place of the first whose four digits are not all there; -1 for none. */
function brokenNumber(block: usize, spelled: u64): i32 {
  if (spelled == 0) return -1;
  seen |= SAW_SPELLED;
  for (let rest = spelled; rest != 0; rest &= rest - 1) {
    const place = i32(ctz(rest));
    for (let digit = 1; digit <= 4; digit++) if (!isHex(load<u8>(block + place + digit))) return place;
  }
  return -1;
}

function isHex(byte: u8): bool {
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}

/** All bits below the lowest that is set. */
function below(mask: u64): u64 {
  return (mask & -mask) - 1;
}

function equals(bytes: v128, byte: u8): v128 {
  return i8x16.eq(bytes, i8x16.splat(byte));
}

/** The quote, and what may not stand in a string. */
function stopsOf(bytes: v128): v128 {
  return v128.or(equals(bytes, QUOTE), i8x16.lt_u(bytes, i8x16.splat(SPACE)));
}

/** What may follow a backslash: " / \ b f n r t u, by a bit for each upper half that both halves of the byte name. */
function escapable(bytes: v128): v128 {
  const lower = i8x16(0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1);
  const upper = i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0);
  const byLower = i8x16.swizzle(lower, v128.and(bytes, i8x16.splat(0x0f)));
  const byUpper = i8x16.swizzle(upper, i8x16.shr_u(bytes, 4));
  return i8x16.ne(v128.and(byLower, byUpper), i8x16.splat(0));
}

/** One bit for each of 64 bytes. */
function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = u64(i8x16.bitmask(a)) | (u64(i8x16.bitmask(b)) << 16);
  const high = u64(i8x16.bitmask(c)) | (u64(i8x16.bitmask(d)) << 16);
  return low | (high << 32);
}
