/** How a server of the benchmark tells its parent that it listens. It ends with its parent. */

/** @param {import("node:net").Server} server */
export function sayReady(server) {
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  sayReadyAt(port);
}

/** @param {number} port */
export function sayReadyAt(port) {
  process.stdout.write(`${JSON.stringify({ msg: "ready", port })}\n`);
  // The parent holds the other end of standard input: when it dies, however it dies, the input ends.
  process.stdin.on("end", () => process.exit(0)).resume();
}
