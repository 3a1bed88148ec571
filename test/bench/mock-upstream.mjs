/**
 * A mock upstream on the OpenAI chat wire, in its own process: whole answers and streams, made once and sent many
 * times.
 */
import { createServer } from "node:http";
import { readMockOptions } from "./mock-options.mjs";
import { sayReady } from "./ready-line.mjs";

/** @typedef {import("./mock-options.mjs").MockOptions} MockOptions */
/** @typedef {{ pieces: Buffer[] }} Script The writes of a stream. */

const MODEL = "bench-1-2026-01-01";
const ID = "chatcmpl-Bench00000000000000000000000000";
const CREATED = 1_767_225_600;
const HEAD_BYTES_MIN = 2048;
const counts = {
  requests: 0,
  open: 0,
  openMost: 0,
  finished: 0,
  aborted: 0,
  bodyBytes: 0,
  inputTokens: 0,
  outputTokens: 0,
};

/** @type {Map<string, Script>} */
const scripts = new Map();
/** @type {Map<string, Buffer>} */
const answers = new Map();

const server = createServer({ keepAliveTimeout: 300_000, requestTimeout: 0 }, (request, response) => {
  if (request.method === "GET") {
    answerGet(request.url ?? "", response);
    return;
  }
  counts.requests++;
  let head = Buffer.alloc(0);
  request.on("data", (/** @type {Buffer} */ chunk) => {
    counts.bodyBytes += chunk.length;
    // Everything that matters here stands early in the body, so a large one costs nothing but its reading.
    if (head.length < HEAD_BYTES_MIN) head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
  });
  request.on("end", () => {
    try {
      answer(head.subarray(0, HEAD_BYTES_MIN), readMockOptions(head), response);
    } catch (error) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: String(error), type: "invalid_request_error" } }));
    }
  });
});

/**
 * @param {Buffer} body
 * @param {Readonly<MockOptions>} options
 * @param {import("node:http").ServerResponse} response
 */
function answer(body, options, response) {
  counts.open++;
  counts.openMost = Math.max(counts.openMost, counts.open);
  response.on("close", () => {
    counts.open--;
    if (!response.writableFinished) counts.aborted++;
  });
  const isStream = body.includes('"stream":true') || body.includes('"stream": true');
  const asksUsage = body.includes('"include_usage":true') || body.includes('"include_usage": true');
  const start = () => (isStream ? stream(options, asksUsage, response) : whole(options, response));
  if (options.first > 0) setTimeout(start, options.first);
  else start();
}

/**
 * @param {Readonly<MockOptions>} options
 * @param {import("node:http").ServerResponse} response
 */
function whole(options, response) {
  const key = `${options.answer} ${options.input} ${options.output}`;
  const body = answers.get(key) ?? keep(answers, key, Buffer.from(JSON.stringify(wholeAnswer(options))));
  finish(options);
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
}

/**
 * @param {Readonly<MockOptions>} options
 * @param {boolean} asksUsage
 * @param {import("node:http").ServerResponse} response
 */
function stream(options, asksUsage, response) {
  const key = `${JSON.stringify(options)} ${asksUsage}`;
  const { pieces } = scripts.get(key) ?? keep(scripts, key, scriptOf(options, asksUsage));
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.socket?.setNoDelay(true);
  let next = 0;
  const send = () => {
    if (response.destroyed) return false;
    const piece = pieces[next++];
    if (next < pieces.length) {
      response.write(piece);
      return true;
    }
    finish(options);
    response.end(piece);
    return false;
  };
  if (options.gap > 0) {
    const timer = setInterval(() => void (send() || clearInterval(timer)), options.gap);
    send();
    return;
  }
  const run = () => void (send() && setImmediate(run));
  run();
}

/** @param {Readonly<MockOptions>} options */
function finish(options) {
  counts.finished++;
  counts.inputTokens += options.input;
  counts.outputTokens += options.output;
}

/**
 * @template Value
 * @param {Map<string, Value>} map
 * @param {string} key
 * @param {Value} value
 */
function keep(map, key, value) {
  if (map.size < 1000) map.set(key, value);
  return value;
}

/** @param {Readonly<MockOptions>} options */
function usageOf({ input, output }) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

/** @param {Readonly<MockOptions>} options */
function wholeAnswer(options) {
  const content = "The quick brown fox jumps over the lazy dog. "
    .repeat(1 + options.answer / 45)
    .slice(0, options.answer);
  const message = { role: "assistant", content, refusal: null, annotations: [] };
  return {
    id: ID,
    object: "chat.completion",
    created: CREATED,
    model: MODEL,
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: usageOf(options),
    service_tier: "default",
    system_fingerprint: "fp_bench",
  };
}

/**
 * @param {Readonly<MockOptions>} options
 * @param {boolean} asksUsage
 * @returns {Script}
 */
function scriptOf(options, asksUsage) {
  const chunk = (/** @type {unknown[]} */ choices, /** @type {object} */ more) => {
    const head = { id: ID, object: "chat.completion.chunk", created: CREATED, model: MODEL };
    const json = JSON.stringify({ ...head, service_tier: "default", system_fingerprint: "fp_bench", choices, ...more });
    return `data: ${json}\n\n`;
  };
  const noUsage = asksUsage ? { usage: null } : {};
  const choice = (/** @type {object} */ delta, /** @type {string | null} */ reason) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason: reason }], noUsage);
  const content = choice({ content: " token" }, null);
  const events = [choice({ role: "assistant", content: "", refusal: null }, null)];
  for (let count = 3; count < options.events; count++) events.push(content);
  events.push(choice({}, "stop"));
  if (asksUsage) events.push(chunk([], { usage: usageOf(options) }));
  events.push("data: [DONE]\n\n");
  /** @type {Buffer[]} */
  const pieces = [];
  for (let at = 0; at < events.length; at += options.perWrite)
    pieces.push(Buffer.from(events.slice(at, at + options.perWrite).join("")));
  return { pieces };
}

/**
 * @param {string} path
 * @param {import("node:http").ServerResponse} response
 */
function answerGet(path, response) {
  const isModels = path.endsWith("/models");
  const list = { object: "list", data: [{ id: "bench-1", object: "model", created: CREATED, owned_by: "bench" }] };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(isModels ? list : counts));
  counts.openMost = counts.open;
}

server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => sayReady(server));
