/** One kept HTTP/1.1 connection of the overload's load: what was answered, how soon, and whether it may come again. */
import { connect } from "node:net";

/**
 * @typedef {object} Outcome
 * @property {number} status 0 where the connection was lost.
 * @property {boolean} isWhole True of an answer that ended as it should.
 * @property {number} waitMs What `retry-after` says; 0 where it is not there.
 * @property {number} tookMs From the request to the end of the answer.
 */

export class Connection {
  /** @type {import("node:net").Socket | undefined} */
  #socket;
  #text = "";
  #sentMs = 0;
  #isBusy = false;

  /**
   * @param {{ host: string, port: number, localAddress: string }} to
   * @param {(outcome: Outcome) => void} onOutcome
   */
  constructor(to, onOutcome) {
    this.to = to;
    this.onOutcome = onOutcome;
  }

  /** @param {Buffer} request */
  send(request) {
    this.#text = "";
    this.#sentMs = performance.now();
    this.#isBusy = true;
    (this.#socket ?? this.#open()).write(request);
  }

  close() {
    this.#isBusy = false;
    this.#socket?.destroy();
  }

  /** Resolves once it is open, and accepted. */
  async open() {
    const { onOutcome } = this;
    await new Promise((resolve) => {
      this.onOutcome = resolve;
      this.send(Buffer.from("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"));
    });
    this.onOutcome = onOutcome;
  }

  #open() {
    const socket = connect({ ...this.to, noDelay: true });
    this.#socket = socket;
    socket.on("data", (data) => this.#read(data.latin1Slice(0, data.length)));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      this.#socket = undefined;
      if (this.#isBusy) this.#end(0, false, 0);
    });
    return socket;
  }

  /** @param {string} data */
  #read(data) {
    if (!this.#isBusy) return;
    this.#text += data;
    const headEnd = this.#text.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = this.#text.slice(0, headEnd).toLowerCase();
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    const isOver =
      length === undefined ? this.#text.endsWith("0\r\n\r\n") : this.#text.length >= headEnd + 4 + Number(length);
    if (!isOver) return;
    const isStream = head.includes("text/event-stream");
    const isWhole = isStream ? this.#text.includes("data: [DONE]") : this.#text.endsWith("}");
    const seconds = Number(/\r\nretry-after: *(\d+)/.exec(head)?.[1] ?? 0);
    this.#end(Number(head.slice(9, 12)), isWhole, seconds * 1_000);
  }

  /**
   * @param {number} status
   * @param {boolean} isWhole
   * @param {number} waitMs
   */
  #end(status, isWhole, waitMs) {
    this.#isBusy = false;
    this.onOutcome({ status, isWhole, waitMs, tookMs: performance.now() - this.#sentMs });
  }
}
