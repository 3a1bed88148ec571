/** Messages of gRPC that are as costly to read as their size allows. */

/** Just below the most that a message may be. */
const BYTES_MAX = 8 * 1024 * 1024 - 4096;
const GENERATE = "/tollgate.v1.InferenceService/Generate";
const EMBED = "/tollgate.v1.InferenceService/Embed";
/** Just below the most that texts for vectors may be. */
const TEXTS_BYTES = 2 * 1024 * 1024 - 4096;

/**
 * @typedef {object} WorstMessage
 * @property {string} name
 * @property {string} path
 * @property {(model: string) => Buffer} message
 */

/**
 * A field that holds bytes.
 * @param {number} number
 * @param {Buffer | string} value
 */
function field(number, value) {
  const bytes = Buffer.from(value);
  const head = [number * 8 + 2];
  let left = bytes.length;
  for (; left > 127; left = Math.floor(left / 128)) head.push((left % 128) + 128);
  return Buffer.concat([Buffer.from([...head, left]), bytes]);
}

/** The same of a number above 15, and of few bytes. @param {number} number @param {string} value */
function wide(number, value) {
  return Buffer.concat([Buffer.from([((number * 8 + 2) % 128) + 128, number >> 4, value.length]), Buffer.from(value)]);
}

/**
 * As many copies as fit.
 * @param {Buffer} piece
 */
function many(piece) {
  return Buffer.alloc(Math.floor(BYTES_MAX / piece.length) * piece.length, piece);
}

/** The role of the user, and what it says. @param {Buffer} parts */
function message(parts) {
  return field(1, Buffer.concat([Buffer.from([0x08, 0x03]), parts]));
}

const text = (/** @type {Buffer | string} */ said) => field(2, field(1, field(1, said)));

/** @type {[name: string, prompt: Buffer][]} */
const PROMPTS = [
  ["one text", message(text(Buffer.alloc(BYTES_MAX, "lorem 12,5 ipsum; ")))],
  ["one text of signs that grow", message(text(Buffer.alloc(BYTES_MAX - 1, "\ufdfa")))],
  ["empty messages", many(field(1, ""))],
  ["short messages", many(message(text("a")))],
  ["empty parts", message(many(field(2, "")))],
  ["parts", message(many(text("a")))],
  ["stops", Buffer.concat([message(text("hi")), many(field(13, "a"))])],
  ["empty tools", Buffer.concat([message(text("hi")), many(field(2, ""))])],
];

/** Just below what is decoded on the event loop for its bytes alone. @param {Buffer} piece */
const few = (piece) => many(piece).subarray(0, Math.floor((64 * 1024 - 256) / piece.length) * piece.length);
const call = field(2, field(5, Buffer.concat([field(1, "c"), field(2, "f"), field(3, "{}")])));
/** @type {[name: string, prompt: Buffer][]} */
const SHORT_PROMPTS = [
  ["short: empty messages", few(field(1, ""))],
  ["short: parts", message(few(text("")))],
  ["short: calls of a tool", field(1, Buffer.concat([Buffer.from([0x08, 0x04]), few(call)]))],
  ["short: empty tools", Buffer.concat([message(text("hi")), few(field(2, ""))])],
  ["short: names of a choice", Buffer.concat([message(text("hi")), field(3, few(field(2, "")))])],
  ["short: biases", Buffer.concat([message(text("hi")), few(wide(17, ""))])],
];
PROMPTS.push(...SHORT_PROMPTS);

/** @type {[name: string, texts: Buffer][]} */
const TEXTS = [
  ["one text of control signs", field(2, Buffer.alloc(TEXTS_BYTES, 1))],
  ["one text of quotes", field(2, Buffer.alloc(TEXTS_BYTES, '"\\'))],
  ["many texts of control signs", Buffer.concat(Array.from({ length: 2_000 }, () => field(2, Buffer.alloc(1_000, 1))))],
  ["as many texts as are allowed", Buffer.concat(Array.from({ length: 2_048 }, () => field(2, "a")))],
];

/** @type {readonly WorstMessage[]} */
export const WORST_MESSAGES = [
  ...TEXTS.map(([name, texts]) => ({
    name: `gRPC: vectors of ${name}`,
    path: EMBED,
    message: (/** @type {string} */ model) => Buffer.concat([field(1, model), texts]),
  })),
  ...PROMPTS.map(([name, prompt]) => ({
    name: `gRPC: ${name}`,
    path: GENERATE,
    message: (/** @type {string} */ model) => field(1, Buffer.concat([field(1, model), field(2, prompt)])),
  })),
  {
    name: "gRPC: a body of one text",
    path: GENERATE,
    message: (model) => {
      const said = Buffer.alloc(BYTES_MAX - 65_536, "lorem 12,5 ipsum; ").toString();
      const body = JSON.stringify({ model, messages: [{ role: "user", content: said }] });
      return field(1, field(3, Buffer.concat([field(1, "openai-chat"), field(2, body)])));
    },
  },
  { name: "gRPC: generations", path: GENERATE, message: () => many(field(1, "")) },
  {
    name: "gRPC: a group",
    path: GENERATE,
    message: () => Buffer.concat([Buffer.from([0x4b]), many(Buffer.from([0x08, 0])), Buffer.from([0x4c])]),
  },
  { name: "gRPC: unknown fields", path: GENERATE, message: () => many(field(9, "")) },
  { name: "gRPC: texts for vectors", path: EMBED, message: () => many(field(2, "a")) },
  { name: "gRPC: fields of a key", path: "/tollgate.v1.KeyService/CreateKey", message: () => many(field(1, "a")) },
];
