/** A thread of `waiting-crowd.ts`: each client connects, sends, says so, and reads until its connection ends. */
import net from "node:net";
import { parentPort, workerData } from "node:worker_threads";

/** @type {{ port: number, count: number, text: string, sent: Int32Array }} */
const { port, count, text, sent } = workerData;

function ask() {
  return new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () =>
      socket.write(text, "latin1", () => {
        Atomics.add(sent, 0, 1);
        Atomics.notify(sent, 0);
      }),
    );
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("error", (error) => (answer += String(error)));
    socket.on("close", () => resolve(answer));
  });
}

parentPort?.postMessage(await Promise.all(Array.from({ length: count }, ask)), []);
