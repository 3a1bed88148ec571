/** Readers that read nothing: what each costs in memory is bounded at every edge, however long its answer would be. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type ClientHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StreamGenerateRequest } from "../../../src/api/index.js";
import { chat } from "../../support/chat-call.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { allowTimeToFail } from "../../support/pauses.js";
import { RawClient, rawPost } from "../../support/raw-http.js";
import { SocketClient } from "../../support/websocket-client.js";
import { settingsFor } from "../../support/world.js";

const [FEW, MANY] = [6, 36];
/** In each process: what its edge may hold of a stream, what was read of its upstream, and what any stream takes. */
const READER_BYTES_MAX = 512 * 1024;
/** What clients pass over and nobody counts makes the answers long. */
const padding = "x".repeat(1_000);
const CHUNK = {
  id: "a",
  object: "chat.completion.chunk",
  created: 1,
  model: "fake-1",
  choices: [{ index: 0, delta: { content: " word" }, finish_reason: null }],
  padding,
};
const DELTA = {
  type: "response.output_text.delta",
  item_id: "msg_1",
  output_index: 0,
  content_index: 0,
  delta: " word",
  padding,
};
const CHUNKS = Buffer.from(`data: ${JSON.stringify(CHUNK)}\n\n`.repeat(50));
const DELTAS = Buffer.from(`event: ${DELTA.type}\ndata: ${JSON.stringify(DELTA)}\n\n`.repeat(50));
const STILL_MS = 1_000;
const FALLING_BYTES = 1024 * 1024;
const SAID = "Say it all.";
const STREAM_PATH = "/tollgate.v1.InferenceService/StreamGenerate";
const SECRET = "a root secret of this test, long enough";

type Json = Readonly<Record<string, unknown>>;

let upstream: Server;
/** What the upstream was asked, and what was taken of its answers. */
const told = { requests: 0, bytes: 0 };
let core: GatewayProcess;
let front: GatewayProcess;
let secret: string;
beforeAll(async () => {
  upstream = createServer((request, response) => {
    told.requests++;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const events = request.url?.endsWith("/responses") === true ? DELTAS : CHUNKS;
    const write = (): void => {
      do told.bytes += events.length;
      while (response.write(events));
    };
    response.on("drain", write);
    response.on("error", () => undefined);
    request.resume().on("end", write);
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const preload = new URL("../../support/heap-report.mjs", import.meta.url).href;
  // Nothing else may keep what was answered.
  const env = { NODE_OPTIONS: `--import ${preload}`, ANSWER_BYTES_KEPT_MAX: "-1", TOLLGATE_SECRET: SECRET };
  const settings = settingsFor(url, 50_000_000)
    .replace(
      "upstreams:",
      `upstreams:\n  resp: { family: openai-responses, base_url: "${url}", api_key: "sk-upstream-secret" }`,
    )
    .replace(
      "models:",
      "models:\n  resp-1: { targets: [{ upstream: resp }], context_tokens: 100000, output_tokens_max: 100000, price: free }",
    );
  core = await startGateway({ settings, env });
  front = await startGateway({ env: { ...env, TOLLGATE_CORE: core.grpc } });
  const management = new Management(core);
  await management.account("acme", 1_000_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  core.expectOddAnswers();
  front.expectOddAnswers();
  await front.stop();
  await core.stop();
  upstream.closeAllConnections();
  upstream.close();
});

function memoryLines({ log }: GatewayProcess): readonly string[] {
  return log.filter((line) => line.includes('"msg":"memory"'));
}

/** The memory in use, once it falls no more: what was read of long answers may have to be counted yet. */
async function memoryBytes(process: GatewayProcess): Promise<number> {
  for (let least = Infinity; ; await allowTimeToFail(STILL_MS)) {
    const count = memoryLines(process).length;
    globalThis.process.kill(process.pid, "SIGUSR2");
    await expect.poll(() => memoryLines(process).length).toBeGreaterThan(count);
    const { bytes } = JSON.parse(memoryLines(process).at(-1) ?? "") as { bytes: number };
    if (bytes > least - FALLING_BYTES) return least;
    least = bytes;
  }
}

/** A reader that asked and reads nothing; gone when it is called. */
type Reader = () => void;

async function overHttp(gateway: GatewayProcess, path: string, body: object): Promise<Reader> {
  const { socket } = await RawClient.open(Number(new URL(gateway.url).port));
  socket.pause();
  socket.write(rawPost(path, JSON.stringify(body), { authorization: `Bearer ${secret}` }), "latin1");
  return () => void socket.destroy();
}

async function overGrpc(): Promise<Reader> {
  const session: ClientHttp2Session = connect(`http://${core.grpc}`);
  session.on("error", () => undefined);
  const headers = { "content-type": "application/grpc+proto", te: "trailers", authorization: `Bearer ${secret}` };
  const stream = session.request({ ":method": "POST", ":path": STREAM_PATH, ...headers });
  stream.on("error", () => undefined);
  const body = Buffer.from(JSON.stringify(chat(SAID, { stream: true })));
  const input = { $case: "source" as const, value: { wire: "openai-chat", body, headers: {} } };
  const generation = { model: "", input, outputTokensMax: undefined, clamp: undefined };
  const message = StreamGenerateRequest.encode({ generation, acceptWire: "openai-chat" }).finish();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([prefix, message]));
  return Promise.resolve(() => session.destroy());
}

async function overWebSocket(gateway: GatewayProcess): Promise<Reader> {
  const client = await SocketClient.open(gateway.url, secret);
  client.webSocket.pause();
  client.create({ model: "resp-1", input: SAID });
  return () => client.close();
}

const EDGES: readonly { readonly name: string; readonly open: () => Promise<Reader>; readonly apart?: true }[] = [
  { name: "of HTTP", open: () => overHttp(core, "/v1/chat/completions", chat(SAID, { stream: true })) },
  { name: "of gRPC", open: overGrpc },
  {
    name: "of HTTP behind a tunnel",
    open: () => overHttp(front, "/v1/chat/completions", chat(SAID, { stream: true })),
    apart: true,
  },
  { name: "of a WebSocket", open: () => overWebSocket(core) },
  { name: "of a WebSocket behind a tunnel", open: () => overWebSocket(front), apart: true },
];

/** Resolves once so many were asked for, and nothing more is taken of any. */
async function stuck(requests: number): Promise<void> {
  await expect.poll(() => told.requests).toBe(requests);
  let bytes = -1;
  while (bytes !== told.bytes) {
    ({ bytes } = told);
    await allowTimeToFail(STILL_MS);
  }
}

describe.each(EDGES)("a reader $name", ({ open, apart }) => {
  test("that reads nothing costs half a MiB at most", async () => {
    const processes = apart === true ? [core, front] : [core];
    const readers: Reader[] = [];
    const before = told.requests;
    const memoryOf = async (count: number): Promise<number[]> => {
      while (readers.length < count) readers.push(await open());
      await stuck(before + count);
      return Promise.all(processes.map(memoryBytes));
    };
    const few = await memoryOf(FEW);
    const dearestBytes = async (): Promise<number> => {
      const many = await memoryOf(MANY);
      return Math.max(...many.map((bytes, index) => (bytes - (few[index] ?? 0)) / (MANY - FEW)));
    };
    // What came on the way, and what is counted of it, is gone once a busy machine comes to it.
    await expect.poll(dearestBytes, { timeout: 60_000 }).toBeLessThan(READER_BYTES_MAX);
    for (const leave of readers) leave();
  });
});

test("readers that read nothing are cut at the bound, and pay for what came", { timeout: 300_000 }, async () => {
  const management = new Management(core);
  await management.account("stuck", 1_000_000_000_000n);
  ({ secret } = await management.makeKey("stuck"));
  const before = { ...told };
  const readers: Reader[] = [];
  for (const { open } of EDGES) readers.push(await open());
  await stuck(before.requests + EDGES.length);
  expect((await management.balance("stuck")).heldNanos).toBeGreaterThan(0n);
  const ended = async (): Promise<Json[]> => {
    const { body } = await management.call("GET", "/requests?account_id=stuck&state=settled");
    return body["requests"] as Json[];
  };
  // Nobody leaves: the gateway ends each of them itself.
  await expect.poll(async () => (await ended()).length, { timeout: 240_000, interval: 500 }).toBe(EDGES.length);
  let spentNanos = 0n;
  for (const request of await ended()) {
    const usage = request["usage"] as Json;
    const [input, output] = [BigInt(String(usage["input_tokens"])), BigInt(String(usage["output_tokens"]))];
    expect(request["usage_source"]).toMatch(/counted/i);
    expect(output).toBeGreaterThan(0n);
    // A word for each event that the upstream sent at most.
    expect(Number(output)).toBeLessThanOrEqual((told.bytes - before.bytes) / padding.length);
    const costNanos = request["model"] === "fake-1" ? input * 10n + output * 100n : 0n;
    expect([request["cost_nanos"], request["charged_nanos"]]).toEqual([String(costNanos), String(costNanos)]);
    spentNanos += costNanos;
  }
  expect(spentNanos).toBeGreaterThan(0n);
  expect(await management.balance("stuck")).toMatchObject({ heldNanos: 0n, spentNanos });
  for (const leave of readers) leave();
});
