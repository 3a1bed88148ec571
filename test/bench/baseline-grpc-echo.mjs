/** The least that a gRPC door in Node can be: a bare grpc-js unary service that calls the HTTP upstream with undici. */
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { Pool } from "undici";
import { sayReadyAt } from "./ready-line.mjs";

const [upstream = "", messages = ""] = process.argv.slice(2);
// The messages are read and written by the same generated code as the gateway's.
const { InferenceServiceService } = await import(messages);
const pool = new Pool(upstream, { connections: 2000, pipelining: 1 });
const headers = ["content-type", "application/json", "authorization", "Bearer sk-upstream"];

class Exchange {
  /** @param {(error: Error | null, body: Buffer) => void} done */
  constructor(done) {
    this.done = done;
    /** @type {Buffer[]} */
    this.pieces = [];
  }

  onRequestStart() {}

  onResponseStart() {}

  /**
   * @param {unknown} _controller
   * @param {Buffer} piece
   */
  onResponseData(_controller, piece) {
    this.pieces.push(piece);
  }

  onResponseEnd() {
    this.done(null, this.pieces.length === 1 && this.pieces[0] ? this.pieces[0] : Buffer.concat(this.pieces));
  }

  /**
   * @param {unknown} _controller
   * @param {Error} error
   */
  onResponseError(_controller, error) {
    this.done(error, Buffer.alloc(0));
  }
}

const server = new Server({ "grpc.max_receive_message_length": 64 << 20 });
server.addService(
  { generate: InferenceServiceService.generate },
  {
    generate(/** @type {any} */ call, /** @type {any} */ callback) {
      const { body } = call.request.generation.input.value;
      const exchange = new Exchange((error, source) => callback(error, { answer: undefined, source }));
      pool.dispatch({ path: "/v1/chat/completions", method: "POST", headers, body }, exchange);
    },
  },
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  sayReadyAt(port);
});
