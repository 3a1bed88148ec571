/** An upstream that breaks HTTP itself: each request ends soon, the gateway lives, and nothing is charged falsely. */
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postChat } from "../../support/chat-call.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { bySweep } from "../../support/sweep.js";
import { says } from "../../support/world.js";

const CHUNK = { id: "x1", object: "chat.completion.chunk", created: 1_700_000_000, model: "m" };
const event = (choice: object): string =>
  `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, ...choice }] })}\n\n`;
const WORDS = event({ delta: { role: "assistant", content: "Hello there." }, finish_reason: null });
const END = `${event({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;
const WHOLE = JSON.stringify({
  id: "x1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
});

const head = (lines: readonly string[], status = "200 OK"): string =>
  `HTTP/1.1 ${status}\r\n${lines.join("\r\n")}\r\n\r\n`;
const typeOf = (stream: boolean): string => `content-type: ${stream ? "text/event-stream" : "application/json"}`;
const bodyOf = (stream: boolean): string => (stream ? WORDS + END : WHOLE);
const chunked = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const BOMB_MIB = bySweep({ short: 8, long: 64, all: 64 });
const BOMB = gzipSync(Buffer.alloc(BOMB_MIB * 1024 * 1024, "data: x\n\n"));

interface Hostile {
  readonly name: string;
  readonly send: (stream: boolean) => readonly (string | Buffer)[];
  readonly must: "answer" | "fail" | "either";
}

const HOSTILE: readonly Hostile[] = [
  {
    name: "a plain answer",
    send: (stream) => [head([typeOf(stream), "connection: close"]), bodyOf(stream)],
    must: "answer",
  },
  {
    name: "a length beyond its body",
    send: (stream) => [head([typeOf(stream), "content-length: 100000"]), bodyOf(stream)],
    must: "either",
  },
  {
    name: "a length short of its body",
    send: (stream) => [head([typeOf(stream), "content-length: 40"]), bodyOf(stream)],
    must: "fail",
  },
  {
    name: "two lengths",
    send: (stream) => [head([typeOf(stream), "content-length: 40", "content-length: 80"]), bodyOf(stream)],
    must: "fail",
  },
  {
    name: "a length and chunks",
    send: (stream) => [
      head([typeOf(stream), "content-length: 4", "transfer-encoding: chunked"]),
      chunked(bodyOf(stream)),
      "0\r\n\r\n",
    ],
    must: "either",
  },
  {
    name: "a length that is no number",
    send: (stream) => [head([typeOf(stream), "content-length: 1e9"]), bodyOf(stream)],
    must: "fail",
  },
  {
    name: "a chunk whose size is a lie",
    send: (stream) => [head([typeOf(stream), "transfer-encoding: chunked"]), `ffffffffffffffffff\r\n${bodyOf(stream)}`],
    must: "fail",
  },
  {
    name: "trailers that are headers",
    send: (stream) => [
      head([typeOf(stream), "transfer-encoding: chunked", "trailer: content-type"]),
      chunked(bodyOf(stream)),
      "0\r\ncontent-type: text/html\r\nset-cookie: a=b\r\nretry-after: 99999\r\n\r\n",
    ],
    must: "answer",
  },
  {
    name: "an extension on each chunk",
    send: (stream) => [
      head([typeOf(stream), "transfer-encoding: chunked"]),
      chunked(bodyOf(stream)).replace("\r\n", `;${"x".repeat(8_000)}=y\r\n`),
      "0\r\n\r\n",
    ],
    must: "either",
  },
  {
    name: "a thousand early hints",
    send: (stream) => [
      head(["link: </a>; rel=preload"], "103 Early Hints").repeat(1_000),
      head([typeOf(stream), "connection: close"]),
      bodyOf(stream),
    ],
    must: "either",
  },
  {
    name: "another protocol",
    send: () => [head(["upgrade: websocket", "connection: upgrade"], "101 Switching Protocols")],
    must: "fail",
  },
  { name: "no content", send: () => [head([], "204 No Content")], must: "fail" },
  { name: "not modified", send: (stream) => [head([typeOf(stream)], "304 Not Modified")], must: "fail" },
  {
    name: "a way elsewhere",
    send: () => [
      head(["location: http://127.0.0.1:9/v1/chat/completions", "content-length: 0"], "307 Temporary Redirect"),
    ],
    must: "fail",
  },
  {
    name: "a zipped bomb that nobody asked for",
    send: (stream) => [head([typeOf(stream), "content-encoding: gzip", `content-length: ${BOMB.length}`]), BOMB],
    must: "fail",
  },
  {
    name: "headers without end",
    send: (stream) => [
      "HTTP/1.1 200 OK\r\n",
      `${typeOf(stream)}\r\n`,
      ...Array.from({ length: 500 }, (_, at) => `x-${at}: ${"y".repeat(1_000)}\r\n`),
    ],
    must: "fail",
  },
  {
    name: "a name of a header that breaks lines",
    send: (stream) => [
      `HTTP/1.1 200 OK\r\n${typeOf(stream)}\r\nx-a: b\nc-d: e\r\nconnection: close\r\n\r\n`,
      bodyOf(stream),
    ],
    must: "either",
  },
  {
    name: "another answer behind the first",
    send: (stream) => [
      head([typeOf(stream), `content-length: ${Buffer.byteLength(bodyOf(stream))}`]),
      bodyOf(stream),
      head([], "500 No"),
    ],
    must: "answer",
  },
  {
    name: "a word of its own for 200",
    send: (stream) => [head([typeOf(stream), "connection: close"], `200 ${"z".repeat(4_000)}`), bodyOf(stream)],
    must: "either",
  },
  {
    name: "a status of four digits",
    send: (stream) => [head([typeOf(stream)], "2000 OK"), bodyOf(stream)],
    must: "fail",
  },
  { name: "status zero", send: (stream) => [head([typeOf(stream)], "000 OK"), bodyOf(stream)], must: "fail" },
  { name: "HTTP 0.9", send: (stream) => [bodyOf(stream)], must: "fail" },
  { name: "HTTP 2", send: () => [Buffer.from("000012040000000000000300000064", "hex")], must: "fail" },
  { name: "TLS", send: () => [Buffer.from("1603010200010001fc0303", "hex")], must: "fail" },
  { name: "nothing", send: () => [], must: "fail" },
  { name: "zeros", send: () => [Buffer.alloc(100_000)], must: "fail" },
  {
    name: "a retry for ages with a refusal",
    send: () => [head(["retry-after: 999999", "content-length: 2"], "429 Too Many"), "{}"],
    must: "fail",
  },
];

let server: Server;
let gateway: GatewayProcess;
let management: Management;
let hostile: Hostile | undefined;
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let asked = "";
    let isAnswered = false;
    socket.on("data", (bytes) => {
      asked += bytes.toString();
      const [said, body] = asked.split("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(said ?? "")?.[1] ?? 0);
      if (isAnswered || body === undefined || Buffer.byteLength(body) < length) return;
      isAnswered = true;
      for (const piece of hostile?.send(/"stream":true/.test(body)) ?? []) socket.write(piece);
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const limits = `context_tokens: 1000, output_tokens_max: 900, price: { input: "1", output: "10" }`;
  gateway = await startGateway({
    settings: [
      "upstreams:",
      `  hostile: { family: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }`,
      "models:",
      `  hostile-1: { targets: [{ upstream: hostile }], ${limits} }`,
    ].join("\n"),
  });
  gateway.expectOddAnswers();
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** A wait that an upstream names is told as it is, up to 30 days. */
const WAIT_SECONDS_MAX = 30 * 24 * 60 * 60;

describe.each(HOSTILE)("an upstream that sends $name", (one) => {
  const forms = [true, false];
  // In the short form each is met by one of the two, in turn; what is whole is met by both.
  const turn = HOSTILE.indexOf(one) % 2;
  const short = one.must === "answer" ? forms : forms.slice(turn, turn + 1);
  test.each(bySweep({ short, long: forms, all: forms }))("ends the request, streamed: %s", async (stream) => {
    const account = `acme-${HOSTILE.indexOf(one)}-${stream}`;
    await management.account(account, 1_000_000_000n);
    const { secret } = await management.makeKey(account);
    await management.call("POST", "/upstreams/hostile:reset", {});
    hostile = one;
    const response = await postChat(gateway, secret, { model: "hostile-1", messages: says("hi"), stream });
    const answer = await response.text().catch(String);
    const isWhole = response.status === 200 && (stream ? answer.endsWith("data: [DONE]\n\n") : answer.startsWith("{"));
    if (isWhole) expect(answer).toContain("Hello there.");
    if (one.must !== "either") expect(isWhole, `${response.status}: ${answer.slice(-300)}`).toBe(one.must === "answer");
    expect(Number(response.headers.get("retry-after") ?? 0)).toBeLessThanOrEqual(WAIT_SECONDS_MAX);
    for (const name of ["set-cookie", "location", "content-encoding", "trailer"])
      expect(response.headers.get(name), name).toBeNull();
    await expect.poll(async () => (await management.balance(account)).heldNanos).toBe(0n);
    const { spentNanos } = await management.balance(account);
    expect(spentNanos > 0n).toBe(answer.includes("Hello there."));
  });
});
