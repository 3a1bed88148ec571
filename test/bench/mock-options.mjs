/**
 * What a request tells the mock upstream to do: one word in its first kilobyte, so that it works through any gateway.
 */

/**
 * @typedef {object} MockOptions
 * @property {number} first Milliseconds until the head of the answer.
 * @property {number} events JSON events of a stream, usage and all but for `[DONE]`, at least 4.
 * @property {number} gap Milliseconds between two writes of a stream.
 * @property {number} perWrite Events in one write.
 * @property {number} answer Bytes of text in a whole answer.
 * @property {number} input Tokens of input that the usage tells.
 * @property {number} output Tokens of output that the usage tells.
 */

/** @type {Readonly<MockOptions>} */
export const MOCK_DEFAULTS = { first: 0, events: 20, gap: 0, perWrite: 1, answer: 600, input: 50, output: 100 };

const WORD = "mock:";
/** Past this the word is not looked for: the mock must not pay for large bodies. */
const SEARCH_BYTES_MAX = 1024;

/**
 * The word that stands for options, such as `mock:events=200,gap=20;`. It goes into a message of the request.
 * @param {Partial<MockOptions>} options
 */
export function mockWord(options) {
  const pairs = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return `${WORD}${pairs.join(",")};`;
}

/**
 * Reads the options from the first bytes of a body. Throws where the word names an unknown option.
 * @param {Buffer} start
 * @returns {Readonly<MockOptions>}
 */
export function readMockOptions(start) {
  const text = start.toString("latin1", 0, Math.min(start.length, SEARCH_BYTES_MAX));
  const at = text.indexOf(WORD);
  if (at < 0) return MOCK_DEFAULTS;
  return parseWord(text.slice(at + WORD.length, text.indexOf(";", at)));
}

/** @type {Map<string, Readonly<MockOptions>>} */
const parsed = new Map();

/** @param {string} word */
function parseWord(word) {
  const known = parsed.get(word);
  if (known !== undefined) return known;
  /** @type {Record<string, number>} */
  const options = { ...MOCK_DEFAULTS };
  for (const pair of word.split(",").filter((text) => text !== "")) {
    const [name = "", value = ""] = pair.split("=");
    if (options[name] === undefined || !/^\d{1,9}$/.test(value)) throw new Error(`the mock has no option ${pair}`);
    options[name] = Number(value);
  }
  const made = /** @type {Readonly<MockOptions>} */ (/** @type {unknown} */ (options));
  if (parsed.size < 1000) parsed.set(word, made);
  return made;
}
