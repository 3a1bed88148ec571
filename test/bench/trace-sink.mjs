/** Takes traces over OTLP as a collector would, in its own process, and keeps nothing but how many posts came. */
import { createServer } from "node:http";
import { sayReady } from "./ready-line.mjs";

let posts = 0;

const server = createServer((request, response) => {
  if (request.method === "GET") return void response.end(JSON.stringify({ posts }));
  request.resume();
  request.on("end", () => {
    posts++;
    // An empty answer takes all of it.
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
server.listen(0, "127.0.0.1", () => sayReady(server));
