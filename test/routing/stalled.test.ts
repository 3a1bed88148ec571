/** An answer whose bytes lie in the socket while the process is held up: it is read, and nobody is blamed. */
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Cancellation } from "../../src/base/cancellation.js";
import { GatewayError } from "../../src/base/errors.js";
import type { RequestTimeouts } from "../../src/routing/deadline.js";
import { Routing } from "../../src/routing/routing.js";
import { createHttpUpstream } from "../../src/upstream/http.js";
import type { Upstream } from "../../src/upstream/upstream.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";
import { stall } from "../support/stall.js";
import { modelOf, targetOf } from "./served.js";

/** As in production, a hundred times shorter. */
const TIMEOUTS: RequestTimeouts = {
  totalMs: 600_000,
  firstTokenMs: 1_200,
  wholeMs: 1_200,
  idleMs: 300,
  lingerMs: 100,
  readOnMs: 600,
};
/** Ten times as long as an upstream may be silent. */
const STALL_MS = 3_000;

/** It goes on while the thread of the test is held: it waits for `delayMs`, and then sends a word every 50 ms. */
const SERVER = `
const { parentPort } = require("node:worker_threads");
const { createServer } = require("node:http");
const choice = (more) => JSON.stringify({ choices: [{ index: 0, ...more }] });
const chunk = (delta, reason) => "data: " + choice({ delta, finish_reason: reason }) + "\\n\\n";
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (data) => (body += data));
  request.on("end", () => {
    const { delayMs, words, isWhole } = JSON.parse(JSON.parse(body).messages[0].content);
    setTimeout(() => {
      if (isWhole) {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(choice({ message: { role: "assistant", content: "word" }, finish_reason: "stop" }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      let sent = 0;
      const timer = setInterval(() => {
        if (sent++ < words) return response.write(chunk({ content: "word " }, null));
        clearInterval(timer);
        response.end(chunk({}, "stop") + "data: [DONE]\\n\\n");
      }, 50);
    }, delayMs);
  });
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

let worker: Worker;
let upstream: Upstream;
beforeEach(async () => {
  worker = new Worker(SERVER, { eval: true });
  const [port] = (await once(worker, "message")) as [number];
  upstream = createHttpUpstream({ baseUrl: `http://127.0.0.1:${port}/v1` });
});
afterEach(async () => {
  await upstream.close();
  await worker.terminate();
});

interface Script {
  readonly delayMs: number;
  readonly words: number;
  readonly isWhole: boolean;
}

interface Asked extends Script {
  /** Holds the event loop once this holds. */
  readonly stallsAt: "sent" | "first word";
}

/** The error of one request that was held up, the words that came, and whether its target is well. */
async function ask({ stallsAt, ...script }: Asked): Promise<{ error: string; words: number; isWell: boolean }> {
  const nothing = (): void => undefined;
  const routing = new Routing({
    affinity,
    limiter,
    promptCaches,
    nowMs: () => performance.now(),
    random: () => 0.5,
    timeouts: TIMEOUTS,
    listed: () => undefined,
    onAttempt: nothing,
    onReadOn: nothing,
    onUnknownMember: nothing,
  });
  const target = targetOf(upstream, "first");
  const stream = !script.isWhole;
  const content = JSON.stringify(script);
  const body = Buffer.from(JSON.stringify({ model: "m", stream, messages: [{ role: "user", content }] }));
  const request = chat.readRequest({ wire: chat.name, body, headers: {} });
  let text = "";
  let isHeld = false;
  const hold = (at: Asked["stallsAt"]): void => {
    if (at !== stallsAt || isHeld) return;
    isHeld = true;
    // What was sent has left, and what was read is told. Behind it timers run before sockets are read.
    setTimeout(() => setImmediate(() => stall(STALL_MS)), 60);
  };
  const receiver = {
    begin: nothing,
    ended: nothing,
    watch: nothing,
    onDrain: nothing,
    sent: () => hold("sent"),
    take: ({ source }: { readonly source: Buffer }) => {
      text += source.toString();
      hold("first word");
      return true;
    },
  };
  const options = {
    kind: "chat" as const,
    acceptWire: chat.name,
    outputTokensMax: 10,
    stream,
    accountId: "acme",
    candidateCount: 1,
    strict: false,
    signal: new Cancellation(),
    deadline: routing.deadline({}, performance.now(), Infinity),
  };
  const error = await routing.run(request, modelOf([target]), options, receiver).then(
    () => "",
    (thrown: unknown) => GatewayError.from(thrown).message,
  );
  expect(isHeld).toBe(true);
  const { failing } = target.health.upstream;
  return { error, words: text.split("word").length - 1, isWell: !failing.wasMetBy("acme") };
}

test.each<{ name: string; asked: Asked; words: number }>([
  { name: "streams on", asked: { delayMs: 0, words: 40, isWhole: false, stallsAt: "first word" }, words: 40 },
  { name: "sends its first word", asked: { delayMs: 800, words: 3, isWhole: false, stallsAt: "sent" }, words: 3 },
  { name: "answers in one piece", asked: { delayMs: 800, words: 0, isWhole: true, stallsAt: "sent" }, words: 1 },
])("an upstream that $name meanwhile is heard to its end", async ({ asked, words }) => {
  expect(await ask(asked)).toEqual({ error: "", words, isWell: true });
});
