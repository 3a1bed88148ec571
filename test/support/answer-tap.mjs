/**
 * Loaded into a gateway before its program: keeps what every connection was asked and what was written to it, whoever
 * asked and however it was written, one line of JSON an answer in the file that `ANSWERS_KEPT_IN` names.
 */
import { openSync, writeSync } from "node:fs";
import { subscribe } from "node:diagnostics_channel";

const BYTES_MAX = Number(process.env["ANSWER_BYTES_KEPT_MAX"] ?? 1_048_576);
const file = process.env["ANSWERS_KEPT_IN"];
// Opened once: a gateway whose descriptors run out is told of too.
const answers = file === undefined ? undefined : openSync(file, "a");
/** What was written to a socket since its last answer ended. */
const written = new WeakMap();

/** Whose client asks where formats share an address, as `/v1/models`. */
function clientOf(url, headers) {
  if ("anthropic-version" in headers) return "anthropic";
  return "x-goog-api-key" in headers || /[?&]key=/.test(url) ? "google" : "";
}

function listenTo(socket) {
  const kept = { chunks: [], bytes: 0 };
  const write = socket.write;
  socket.write = function (chunk, encoding, callback) {
    if (kept.bytes <= BYTES_MAX && chunk !== null && chunk !== undefined) {
      // A copy: the writer may use its memory again.
      const bytes = Buffer.from(chunk, typeof encoding === "string" ? encoding : undefined);
      kept.chunks.push(bytes);
      kept.bytes += bytes.length;
    }
    return write.call(this, chunk, encoding, callback);
  };
  written.set(socket, kept);
  return kept;
}

subscribe("http.server.request.start", ({ request, response, socket }) => {
  const kept = written.get(socket) ?? listenTo(socket);
  response.once("close", () => {
    const { method, url, headers } = request;
    const answer = Buffer.concat(kept.chunks.splice(0));
    const isWhole = kept.bytes <= BYTES_MAX;
    kept.bytes = 0;
    if (answers === undefined || !isWhole || answer.length === 0) return;
    const client = clientOf(url, headers);
    const line = { method, url, client, answer: answer.toString("latin1") };
    writeSync(answers, `${JSON.stringify(line)}\n`);
  });
});
