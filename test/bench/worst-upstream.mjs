/** An upstream that means harm: each of its addresses gives one of the worst answers (`/answer/<place>/...`). */
import { createServer } from "node:http";
import { sayReady } from "./ready-line.mjs";
import { WORST_ANSWERS } from "./worst-answers.mjs";

// One answer is asked for several times in a row, and takes long to make.
let made = { place: -1, contentType: "", body: Buffer.alloc(0) };

/** @param {number} place */
function answerAt(place) {
  const found = WORST_ANSWERS[place];
  if (found !== undefined && made.place !== place) made = { place, contentType: found.contentType, body: found.body() };
  return made;
}

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const { contentType, body } = answerAt(Number(/^\/answer\/(\d+)/.exec(request.url ?? "")?.[1]));
    response.writeHead(200, { "content-type": contentType, "content-length": body.length });
    // That it is made shall not be measured.
    response.end(request.method === "HEAD" ? undefined : body);
  });
});
server.listen(0, "127.0.0.1", () => sayReady(server));
