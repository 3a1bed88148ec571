/** Messages of gRPC that are as costly to read as their size allows. */

/** Just below the most that a message may be. */
const BYTES_MAX = 8 * 1024 * 1024 - 4096;
const GENERATE = "/tollgate.v1.InferenceService/Generate";

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

/** @type {readonly WorstMessage[]} */
export const WORST_MESSAGES = [
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
  { name: "gRPC: unknown fields", path: GENERATE, message: () => many(field(9, "")) },
  { name: "gRPC: texts for vectors", path: "/tollgate.v1.InferenceService/Embed", message: () => many(field(2, "a")) },
  { name: "gRPC: fields of a key", path: "/tollgate.v1.KeyService/CreateKey", message: () => many(field(1, "a")) },
];
