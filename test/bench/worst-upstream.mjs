/** An upstream that means harm: gives every request the worst answer that was ordered last (`POST /order/<number>`). */
import { createServer } from "node:http";
import { sayReady } from "./ready-line.mjs";
import { WORST_ANSWERS } from "./worst-answers.mjs";

let contentType = "";
let body = Buffer.alloc(0);

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const order = /^\/order\/(\d+)$/.exec(request.url ?? "");
    const found = order === null ? undefined : WORST_ANSWERS[Number(order[1])];
    if (found !== undefined) {
      contentType = found.contentType;
      body = found.body();
      response.end("{}");
      return;
    }
    response.writeHead(200, { "content-type": contentType, "content-length": body.length });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => sayReady(server));
