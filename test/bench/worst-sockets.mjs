/** Messages over a WebSocket that are as costly to read as their size allows. */
import { once } from "node:events";
import WebSocket from "ws";
import { filled } from "./worst-cases.mjs";

/** Just below the most that a message may be, and a longer one. */
const BYTES_MAX = 2 * 1024 * 1024 - 4096;
const LONGER_BYTES = 32 * 1024 * 1024;
const WAIT_MS_MAX = 10_000;

/**
 * @param {string} model
 * @param {string} head
 */
const ask = (model, head) => `{"type":"response.create","model":"${model}",${head}`;

/** @typedef {string | ((index: number) => string)} Piece */

/** @type {readonly [name: string, head: string, piece: Piece, between: string, tail: string][]} */
const ROWS = [
  ["text of one letter", '"input":"', "a", "", '"}'],
  ["text of escaped quotes", '"input":"', '\\"', "", '"}'],
  ["text of signs that grow", '"input":"', "\ufdfa", "", '"}'],
  ["text of words", '"input":"', "lorem 12,5 ipsum; ", "", '"}'],
  ["messages", '"input":[', '{"role":"user","content":"hi"}', ",", "]}"],
  ["items that are none", '"input":[', "{}", ",", "]}"],
  ["tools", '"input":"hi","tools":[', '{"type":"function","name":"f","parameters":{}}', ",", "]}"],
  ["members", '"input":"hi",', (index) => `"m${index}":0`, ",", "}"],
  ["a long previous response", '"input":"hi","previous_response_id":"', "a", "", '"}'],
  ["what it should generate, as a list", '"input":"hi","generate":[', "{}", ",", "]}"],
  ["a message that only prepares", '"generate":false,"input":"', "a", "", '"}'],
  ["text that is no JSON", "", "a", "", ""],
];

/** @typedef {{ name: string, message: (model: string) => Buffer }} WorstMessage */

/** @type {readonly WorstMessage[]} */
export const WORST_SOCKETS = [
  ...ROWS.map(([name, head, piece, between, tail]) => ({
    name: `WebSocket: ${name}`,
    message: (/** @type {string} */ model) => filled(ask(model, head), piece, between, tail, BYTES_MAX),
  })),
  { name: "WebSocket: a message that is too long", message: () => Buffer.alloc(LONGER_BYTES, "a") },
];

/**
 * Sends one over a connection of its own, and waits for its answer's first event or for the connection's end.
 * @param {string} base
 * @param {string} key
 * @param {Buffer} message
 * @returns {Promise<unknown>} What that event is, or the code that closed it.
 */
export async function sendOverSocket(base, key, message) {
  const socket = new WebSocket(`${base.replace("http", "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  });
  socket.on("error", () => undefined);
  const closed = once(socket, "close").then(([code]) => code);
  await once(socket, "open");
  const answered = once(socket, "message").then(([data]) => JSON.parse(String(data)).type);
  const signal = AbortSignal.timeout(WAIT_MS_MAX);
  const late = once(signal, "abort").then(() => "late");
  socket.send(message, { binary: false });
  const first = await Promise.race([answered, closed, late]);
  socket.terminate();
  return first;
}
