/**
 * What the module of vectors is worth: the end of a long JSON string found by it and in other ways, in CPU time.
 * Run: `node test/bench/long-strings.mjs`, after `npm run build`, on each version of Node that matters.
 */
import { longStrings } from "../../dist/src/wire/json/long-string.js";

const TURN_BYTES = 1e7;
const ROUNDS = 5;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
// Named by what may stand there, from the blank on.
const CONTROLS = /[^ -\uffff]/;
const PLAIN = String.raw`(?:[ !#-\[\]-\uffff]+|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*`;

const TEXTS = {
  prose: "The quick brown fox jumps over the lazy dog, 12,5 times a day. ",
  code: 'if (a[\\"b\\"] === \\"c\\") {\\n\\t return \\"d\\";\\n}\\n',
};

/** Each takes the bytes of a JSON string from behind its first quote, and returns the place of its last. */
const WAYS = {
  module: (/** @type {Buffer} */ bytes) => longStrings?.pass(bytes, 1) ?? Number.NaN,
  "byte by byte": (/** @type {Buffer} */ bytes) => {
    for (let at = 1; ; at++) {
      const byte = bytes[at] ?? QUOTE;
      if (byte === QUOTE || byte < SPACE) return at;
      if (byte === BACKSLASH) at++;
    }
  },
  "indexOf, then a pattern": (/** @type {Buffer} */ bytes) => {
    let quote = bytes.indexOf(QUOTE, 1);
    while (isEscaped(bytes, quote)) quote = bytes.indexOf(QUOTE, quote + 1);
    return CONTROLS.test(bytes.latin1Slice(1, quote)) ? Number.NaN : quote;
  },
  "a sticky pattern": (/** @type {Buffer} */ bytes) => {
    const plain = new RegExp(PLAIN, "y");
    for (let at = 1; ; at += plain.lastIndex) {
      const text = bytes.latin1Slice(at, Math.min(at + 4096, bytes.length));
      plain.lastIndex = 0;
      plain.test(text);
      // Six: an escape that the piece cuts.
      if (plain.lastIndex < text.length - 6) return at + plain.lastIndex;
    }
  },
  "JSON.parse": (/** @type {Buffer} */ bytes) => {
    let quote = bytes.indexOf(QUOTE, 1);
    while (isEscaped(bytes, quote)) quote = bytes.indexOf(QUOTE, quote + 1);
    JSON.parse(bytes.latin1Slice(0, quote + 1));
    return quote;
  },
};

/** @param {Buffer} bytes @param {number} quote */
function isEscaped(bytes, quote) {
  let slashes = 0;
  while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/** @param {string} text @param {number} length */
function bodyOf(text, length) {
  const said = text.repeat(Math.ceil(length / text.length)).slice(0, length);
  return Buffer.from(`"${said.replace(/\\$/, "x")}","and":["so","on"]}`);
}

/** @param {(bytes: Buffer) => number} way @param {Buffer} bytes */
function cpuUs(way, bytes) {
  const calls = Math.max(20, Math.ceil(TURN_BYTES / bytes.length));
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call++) way(bytes);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

process.stdout.write(`Node ${process.versions.node}: CPU µs for one string, the least of ${ROUNDS} rounds\n`);
for (const [kind, text] of Object.entries(TEXTS)) {
  for (const length of [1_000, 20_000, 200_000]) {
    const bytes = bodyOf(text, length);
    const least = Object.values(WAYS).map(() => Infinity);
    for (let round = 0; round < ROUNDS; round++)
      Object.values(WAYS).forEach((way, place) => (least[place] = Math.min(least[place] ?? 0, cpuUs(way, bytes))));
    const ends = new Set(Object.values(WAYS).map((way) => way(bytes)));
    if (ends.size !== 1) throw new Error(`${kind}, ${length} bytes: the ways end at ${[...ends].join(", ")}`);
    const told = Object.keys(WAYS).map((name, place) => `${name} ${(least[place] ?? 0).toFixed(2)}`);
    process.stdout.write(`${kind}, ${length} bytes: ${told.join(", ")}\n`);
  }
}
