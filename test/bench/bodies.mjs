/** Request bodies of the benchmark: prose or quote-rich code, of a given size, with the mock's options in front. */
import { mockWord } from "./mock-options.mjs";

const PROSE =
  "It was a bright cold day in April, and the clocks were striking thirteen; the wind blew dust along the street. " +
  "Nobody looked up. A door opened, somebody said a word or two, and the door closed again. ";
const CODE = `{\n\t"name": "widget",\n\t"path": "C:\\\\tools\\\\bin",\n\t"run": ["sh", "-c", "echo \\"$1\\""]\n},\n`;

/**
 * @typedef {object} BodyShape
 * @property {number} bytes About how long the whole body is.
 * @property {"prose" | "code"} text Code has a quote, a line break or a backslash every few bytes, each escaped in
 * JSON.
 * @property {boolean} stream
 */

/**
 * A chat completion request that asks for its usage.
 * @param {BodyShape} shape
 * @param {string} model
 * @param {Partial<import("./mock-options.mjs").MockOptions>} mock
 */
export function chatBody(shape, model, mock) {
  const streamed = shape.stream ? { stream: true, stream_options: { include_usage: true } } : {};
  const system = { role: "system", content: `You are a benchmark. ${mockWord(mock)}` };
  const head = { model, ...streamed, max_completion_tokens: 1000 };
  const build = (/** @type {string} */ content) =>
    Buffer.from(JSON.stringify({ ...head, messages: [system, { role: "user", content }], temperature: 0.7 }));
  return build(fill(shape, Math.max(0, shape.bytes - build("").length)));
}

/**
 * The same for an Anthropic client.
 * @param {BodyShape} shape
 * @param {string} model
 * @param {Partial<import("./mock-options.mjs").MockOptions>} mock
 */
export function messagesBody(shape, model, mock) {
  const head = { model, stream: shape.stream, max_tokens: 1000, system: `You are a benchmark. ${mockWord(mock)}` };
  const build = (/** @type {string} */ content) =>
    Buffer.from(JSON.stringify({ ...head, messages: [{ role: "user", content }] }));
  return build(fill(shape, Math.max(0, shape.bytes - build("").length)));
}

/**
 * Text that is `bytes` long once it stands in JSON.
 * @param {BodyShape} shape
 * @param {number} bytes
 */
function fill({ text }, bytes) {
  const piece = text === "prose" ? PROSE : CODE;
  const pieceBytes = Buffer.byteLength(JSON.stringify(piece)) - 2;
  const whole = piece.repeat(Math.floor(bytes / pieceBytes));
  return whole + "x".repeat(bytes % pieceBytes);
}
