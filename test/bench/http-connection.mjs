/** One kept HTTP/1.1 connection of the load driver: writes ready-made requests and checks what comes back. */
import { connect } from "node:net";

const CHUNK_LINE_BYTES_MAX = 64;

/**
 * @typedef {object} Expected What every answer must be.
 * @property {string} eventMark Stands once in each event that is counted; empty where the answer is whole.
 * @property {number} events How often.
 * @property {string} endMark Must stand in the answer.
 */

/**
 * @typedef {object} Outcome
 * @property {string | undefined} problem What was wrong; undefined where the answer is right.
 * @property {number} events
 * @property {number} firstMs From the request to the first byte of the body.
 * @property {number} wholeMs From the request to the end.
 */

/** Sends one request at a time. A connection that the server closes is opened again with the next request. */
export class HttpConnection {
  /**
   * @param {string} host
   * @param {number} port
   * @param {Buffer} request Head and body.
   * @param {Expected} expected
   * @param {(outcome: Outcome) => void} onOutcome
   */
  constructor(host, port, request, expected, onOutcome) {
    this.host = host;
    this.port = port;
    this.request = request;
    this.expected = expected;
    this.onOutcome = onOutcome;
    /** @type {import("node:net").Socket | undefined} */
    this.socket = undefined;
    this.busy = false;
    this.#clear();
  }

  send() {
    this.#clear();
    this.busy = true;
    this.startMs = performance.now();
    const socket = this.socket ?? this.#connect();
    socket.write(this.request);
  }

  /** An answer that is still to come is not told any more. */
  close() {
    this.busy = false;
    this.socket?.destroy();
    this.socket = undefined;
  }

  #clear() {
    this.startMs = 0;
    this.firstMs = 0;
    this.events = 0;
    this.ended = false;
    this.status = 0;
    /** Bytes of the body or chunk that are still to come; -1 while a head or a chunk's size is read. */
    this.left = -1;
    this.chunked = false;
    this.inHead = true;
    /** What was read of a line or a mark that is not whole yet. */
    this.rest = "";
    this.tail = "";
    this.sawEnd = false;
    /** The beginning of an answer that is an error. */
    this.said = "";
  }

  #connect() {
    const socket = connect({ host: this.host, port: this.port, noDelay: true });
    this.socket = socket;
    socket.on("data", (data) => this.#read(data));
    socket.on("error", (error) => this.#lost(error.message));
    socket.on("close", () => this.#lost("the connection was closed"));
    return socket;
  }

  /** @param {string} problem */
  #lost(problem) {
    this.socket?.destroy();
    this.socket = undefined;
    if (this.busy) this.#finish(problem);
  }

  /** @param {Buffer} data */
  #read(data) {
    if (!this.busy) return;
    let at = 0;
    if (this.inHead) {
      at = this.#readHead(data);
      if (this.inHead) return;
    }
    if (this.firstMs === 0 && at < data.length) this.firstMs = performance.now() - this.startMs;
    while (at < data.length && this.busy) {
      if (this.left < 0) at = this.#readChunkLine(data, at);
      else {
        const end = Math.min(data.length, at + this.left);
        this.#look(data.latin1Slice(at, end));
        this.left -= end - at;
        at = end;
        if (this.left === 0) this.#endPiece();
      }
    }
  }

  /**
   * Returns where the body begins; the head may need more bytes.
   * @param {Buffer} data
   */
  #readHead(data) {
    const before = this.rest.length;
    const text = this.rest + data.latin1Slice(0, data.length);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      this.rest = text;
      return data.length;
    }
    const head = text.slice(0, end).toLowerCase();
    this.inHead = false;
    this.rest = "";
    this.status = Number(head.slice(9, 12));
    this.chunked = head.includes("\r\ntransfer-encoding: chunked");
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (!this.chunked) this.left = Number(length ?? 0);
    if (!this.chunked && this.left === 0) this.#finish(this.#problem());
    return end + 4 - before;
  }

  /**
   * @param {Buffer} data
   * @param {number} at
   */
  #readChunkLine(data, at) {
    const lineEnd = data.indexOf(10, at);
    const line = this.rest + data.latin1Slice(at, lineEnd < 0 ? data.length : lineEnd);
    if (lineEnd < 0) {
      this.rest = line;
      if (line.length > CHUNK_LINE_BYTES_MAX) this.#finish("a chunk's size is too long");
      return data.length;
    }
    this.rest = "";
    const text = line.trim();
    if (text === "") {
      // The line break behind a chunk, or behind the last one.
      if (this.ended) this.#finish(this.#problem());
      return lineEnd + 1;
    }
    const size = Number.parseInt(text, 16);
    if (size === 0) this.ended = true;
    else this.left = size;
    return lineEnd + 1;
  }

  #endPiece() {
    this.left = -1;
    if (!this.chunked) this.#finish(this.#problem());
  }

  /**
   * Counts marks, also one that is cut between two reads.
   * @param {string} text
   */
  #look(text) {
    const { eventMark, endMark } = this.expected;
    const seen = this.tail + text;
    if (eventMark !== "") {
      for (let at = seen.indexOf(eventMark); at >= 0; at = seen.indexOf(eventMark, at + eventMark.length)) {
        // What stood whole in the tail was counted when it came.
        if (at + eventMark.length > this.tail.length) this.events++;
      }
    }
    this.sawEnd ||= seen.includes(endMark);
    if (this.status !== 200 && this.said.length < 200) this.said += text.slice(0, 200);
    this.tail = seen.slice(-Math.max(eventMark.length, endMark.length) + 1);
  }

  #problem() {
    const { eventMark, events } = this.expected;
    if (this.status !== 200) return `status ${this.status}: ${this.said}`;
    if (!this.sawEnd) return "the answer has no end mark";
    return eventMark !== "" && this.events !== events ? `${this.events} events, not ${events}` : undefined;
  }

  /** @param {string | undefined} problem */
  #finish(problem) {
    this.busy = false;
    const wholeMs = performance.now() - this.startMs;
    this.onOutcome({ problem, events: this.events, firstMs: this.firstMs || wholeMs, wholeMs });
  }
}
