/** A thread of `waiting-crowd.ts`: each client connects, says so, and makes one call. */
import http2 from "node:http2";
import { parentPort, workerData } from "node:worker_threads";

/** @type {{ port: number, count: number, path: string, headers: Record<string, string>, sent: Int32Array }} */
const { port, count, path, headers, sent } = workerData;
/** A frame of gRPC whose message is empty. */
const EMPTY = Buffer.alloc(5);

function call() {
  return new Promise((resolve) => {
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.once("connect", () => {
      Atomics.add(sent, 0, 1);
      Atomics.notify(sent, 0);
    });
    session.on("error", (error) => resolve(String(error)));
    const all = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers };
    const stream = session.request(all);
    stream.on("trailers", (trailers) => resolve(String(trailers["grpc-status"])));
    stream.on("response", ({ "grpc-status": status }) => status !== undefined && resolve(String(status)));
    stream.on("error", (error) => resolve(String(error)));
    stream.on("close", () => {
      session.close();
      resolve("closed");
    });
    stream.resume();
    stream.end(EMPTY);
  });
}

parentPort?.postMessage(await Promise.all(Array.from({ length: count }, call)), []);
