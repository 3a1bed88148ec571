/**
 * The least that a gateway in Node can be: node:http in, undici's dispatch out, bytes through both ways, nothing else.
 */
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Pool } from "undici";
import { sayReady } from "./ready-line.mjs";

const [upstream = ""] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 2000, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const headers = ["content-type", "application/json", "authorization", "Bearer sk-upstream"];
const delay = monitorEventLoopDelay({ resolution: 10 });
delay.enable();

/** One exchange, in the shape that undici calls. */
class Exchange {
  /** @param {import("node:http").ServerResponse} response */
  constructor(response) {
    this.response = response;
    /** @type {import("undici").Dispatcher.DispatchController | undefined} */
    this.controller = undefined;
  }

  /** @param {import("undici").Dispatcher.DispatchController} controller */
  onRequestStart(controller) {
    this.controller = controller;
    this.response.on("drain", () => controller.resume());
    this.response.on("close", () => {
      if (!this.response.writableFinished) controller.abort(new Error("the client left"));
    });
  }

  /**
   * @param {import("undici").Dispatcher.DispatchController} _controller
   * @param {number} status
   * @param {Record<string, string | string[] | undefined>} received
   */
  onResponseStart(_controller, status, received) {
    /** @type {Record<string, string | string[]>} */
    const sent = { "content-type": received["content-type"] ?? "application/json" };
    if (received["content-length"] !== undefined) sent["content-length"] = received["content-length"];
    this.response.writeHead(status, sent);
  }

  /**
   * @param {import("undici").Dispatcher.DispatchController} controller
   * @param {Buffer} chunk
   */
  onResponseData(controller, chunk) {
    if (!this.response.write(chunk)) controller.pause();
  }

  onResponseEnd() {
    this.response.end();
  }

  onResponseError() {
    if (this.response.headersSent) this.response.destroy();
    else this.response.writeHead(502).end();
  }
}

const server = createServer({ keepAliveTimeout: 300_000, requestTimeout: 0 }, (request, response) => {
  if (request.method === "GET") {
    response.end(`nodejs_eventloop_lag_max_seconds ${delay.max / 1e9}\n`);
    delay.reset();
    return;
  }
  /** @type {Buffer[]} */
  const pieces = [];
  request.on("data", (/** @type {Buffer} */ piece) => pieces.push(piece));
  request.on("end", () => {
    const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    pool.dispatch({ path: request.url ?? "/", method: "POST", headers, body: body ?? null }, new Exchange(response));
  });
});
server.listen(0, "127.0.0.1", () => sayReady(server));
