/**
 * A port for a program that cannot take a free one itself, as the others do with port 0. It lies below those that
 * systems give to outgoing connections and for port 0, so that none of them takes it before the program does.
 */
import { createServer } from "node:net";

/** The bus of a Redis cluster listens 10,000 above its port: there as well no system gives ports away. */
const FIRST = 12_000;
const COUNT = 10_000;

export async function freePort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
