/** Traces as a collector receives them: from both edges, in one process and with the front end apart. */
import { rmSync } from "node:fs";
import { credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { chat, postChat, readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { InferenceServiceClient } from "../../support/grpc-clients.js";
import { Management } from "../../support/management.js";
import {
  CLIENT_SPAN,
  ERROR_STATUS,
  type ReceivedSpan,
  SERVER_SPAN,
  startTraceReceiver,
  type TraceReceiver,
} from "../../support/trace-receiver.js";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-01`;
const SECRET = "root secret of a test of traces, 0123456789";
const COLLECTOR_TOKEN = "collector-token-0123456789";
const LIMITS = "context_tokens: 9000, output_tokens_max: 100";
const PATIENT = { timeout: 60_000, interval: 50 };

let upstream: FakeUpstream;
let receiver: TraceReceiver;

function settings(): string {
  return [
    "upstreams:",
    `  fake: { family: openai-compatible, base_url: "${upstream.url}", api_key: "sk-upstream-secret-0123456789" }`,
    `  gone: { family: mistral, base_url: "http://127.0.0.1:9/v1", api_key: "sk-gone-secret-0123456789" }`,
    "models:",
    `  fake-1: { targets: [{ upstream: fake }], ${LIMITS}, price: { input: "1", output: "2" } }`,
    `  over-1: { targets: [{ upstream: gone }, { upstream: fake, model: fake-1, priority: 2 }], ${LIMITS}, price: free }`,
    "",
  ].join("\n");
}

beforeAll(async () => {
  upstream = await startFakeUpstream();
  receiver = await startTraceReceiver();
});
afterAll(async () => {
  await upstream.close();
  await receiver.close();
});

/** The span of the request that said this in its body or that has this id, with the attempts below it. */
async function traceOf(requestId: string): Promise<{ request: ReceivedSpan; attempts: readonly ReceivedSpan[] }> {
  const find = (): ReceivedSpan | undefined =>
    receiver.spans.find(({ attributes }) => attributes["tollgate.request_id"] === requestId);
  await expect.poll(find, PATIENT).toBeDefined();
  const request = find();
  if (request === undefined) throw new Error("no span");
  const attempts = receiver.spans.filter(({ parentSpanId }) => parentSpanId === request.spanId);
  return { request, attempts };
}

function requestIdOf(response: Response): string {
  return response.headers.get("x-request-id") ?? "";
}

function traceparentUpstream(text: string): string {
  const sent = upstream.requests.find(({ raw }) => raw.includes(text));
  return String(sent?.headers["traceparent"] ?? "");
}

describe.each([
  { name: "in one process, as protobuf", isApart: false, protocol: "http/protobuf", type: "application/x-protobuf" },
  { name: "with the front end apart, as JSON", isApart: true, protocol: "http/json", type: "application/json" },
])("$name", ({ isApart, protocol, type }) => {
  let core: GatewayProcess;
  let front: GatewayProcess;
  let secret: string;

  beforeAll(async () => {
    core = await startGateway({
      settings: settings(),
      env: {
        TOLLGATE_SECRET: SECRET,
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${COLLECTOR_TOKEN}`,
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
        OTEL_BSP_SCHEDULE_DELAY: "50",
      },
    });
    front = isApart ? await startGateway({ env: { TOLLGATE_CORE: core.grpc, TOLLGATE_SECRET: SECRET } }) : core;
    const management = new Management(front);
    await management.account("acme", 1_000_000_000n);
    ({ secret } = await management.makeKey("acme"));
  });
  afterAll(async () => {
    if (isApart) await front.stop();
    await core.stop();
    rmSync(core.dataDirectory, { recursive: true });
    if (isApart) rmSync(front.dataDirectory, { recursive: true });
  });

  test("a streamed request is a span in its caller's trace, and its upstream goes on from its attempt", async () => {
    const text = `Hello from ${protocol}`;
    const body = chat("Hello", { stream: true, user: text });
    const response = await postChat(front, secret, body, { headers: { traceparent: TRACEPARENT, tracestate: "a=b" } });
    await readAll(response);
    const { request, attempts } = await traceOf(requestIdOf(response));
    expect(request).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      kind: SERVER_SPAN,
      name: "chat fake-1",
    });
    expect(request.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "fake-1",
      "gen_ai.usage.output_tokens": 4,
      "tollgate.account": "acme",
      "tollgate.upstream": "fake",
      "tollgate.attempts": 1,
    });
    expect(request.attributes["tollgate.charged_usd"]).toBeGreaterThan(0);
    expect(request.events.map(({ name }) => name)).toEqual(["first token", "settlement"]);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({ traceId: TRACE_ID, kind: CLIENT_SPAN, name: "chat fake-1" });
    expect(attempts[0]?.attributes).toMatchObject({
      "gen_ai.provider.name": "openai-compatible",
      "http.response.status_code": 200,
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(upstream.url).port),
    });
    expect(traceparentUpstream(text)).toBe(`00-${TRACE_ID}-${attempts[0]?.spanId}-01`);
    const line = (): Record<string, unknown> | undefined =>
      core.log
        .map((told) => JSON.parse(told) as Record<string, unknown>)
        .find(({ msg, request_id }) => msg === "generation" && request_id === requestIdOf(response));
    await expect.poll(line, PATIENT).toMatchObject({ trace_id: TRACE_ID, span_id: request.spanId });
  });

  test("a failover is a second attempt, and an event of the request", async () => {
    const response = await postChat(front, secret, chat("Hello", { model: "over-1" }));
    expect(response.status).toBe(200);
    const { request, attempts } = await traceOf(requestIdOf(response));
    expect(request.events.map(({ name }) => name)).toEqual(["failover", "first token", "settlement"]);
    expect(attempts.map(({ attributes }) => attributes["tollgate.upstream"])).toEqual(["gone", "fake"]);
    expect(attempts[0]).toMatchObject({ status: { code: ERROR_STATUS } });
    expect(attempts[0]?.attributes).toMatchObject({
      "error.type": "UPSTREAM_FAILED",
      "gen_ai.provider.name": "mistral_ai",
    });
  });

  test.each([
    { what: "an upstream's refusal", body: chat(script({ status: 400 })), type: "UPSTREAM_REJECTED", isOurs: false },
    { what: "an upstream's failure", body: chat(script({ status: 502 })), type: "UPSTREAM_FAILED", isOurs: true },
  ])("$what is the request's error", async ({ body, type: errorType, isOurs }) => {
    const response = await postChat(front, secret, body);
    await readAll(response);
    const { request } = await traceOf(requestIdOf(response));
    expect(request.attributes["error.type"]).toBe(errorType);
    expect(request.status?.code === ERROR_STATUS).toBe(isOurs);
  });

  test("a call over gRPC is a span in its caller's trace as well", async () => {
    const client = new InferenceServiceClient(core.grpc, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${secret}`);
    metadata.set("traceparent", TRACEPARENT);
    const body = Buffer.from(JSON.stringify(chat("Hello over gRPC")));
    const source = { wire: "openai-chat", body, headers: {} };
    const generation = {
      model: "",
      input: { $case: "source", value: source },
      outputTokensMax: undefined,
      clamp: undefined,
    } as const;
    const requestId = await new Promise<string>((resolve, reject) => {
      const call = client.generate(
        { generation, acceptWire: "" },
        metadata,
        (error) => error !== null && reject(error),
      );
      call.on("metadata", (head) => resolve(String(head.get("x-request-id")[0])));
    });
    client.close();
    const { request, attempts } = await traceOf(requestId);
    expect(request).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID });
    expect(attempts).toHaveLength(1);
  });

  test("a request that its caller's trace leaves out is left out here, and its upstream is told so", async () => {
    const text = `Left out over ${protocol}`;
    const leftOut = `00-${"1".repeat(32)}-${PARENT_ID}-00`;
    const response = await postChat(front, secret, chat("Hello", { user: text }), {
      headers: { traceparent: leftOut },
    });
    expect(response.status).toBe(200);
    expect(traceparentUpstream(text)).toMatch(/^00-1{32}-[0-9a-f]{16}-00$/);
    const after = await postChat(front, secret, chat("Hello"));
    await traceOf(requestIdOf(after));
    expect(receiver.spans.filter(({ traceId }) => traceId === "1".repeat(32))).toEqual([]);
  });

  test("the collector is told who sends, in the protocol asked for, and no log has its credential", () => {
    expect(receiver.resources.at(-1)).toMatchObject({
      "service.name": "tollgate",
      "deployment.environment.name": "test",
    });
    const last = receiver.requests.at(-1);
    expect(last?.path).toBe("/v1/traces");
    expect(last?.headers).toMatchObject({ "content-type": type, authorization: COLLECTOR_TOKEN });
    expect(core.log.join("\n")).not.toContain(COLLECTOR_TOKEN);
  });
});

test("without OpenTelemetry's variables nothing of it is loaded, and no trace is told to upstreams", async () => {
  const plain = await startGateway({ settings: settings(), env: { NODE_OPTIONS: `--import ${LOADED}` } });
  const management = new Management(plain);
  await management.account("acme", 1_000_000_000n);
  const { secret } = await management.makeKey("acme");
  const headers = { traceparent: TRACEPARENT };
  const response = await postChat(plain, secret, chat("Hello", { user: "without traces" }), { headers });
  expect(response.status).toBe(200);
  expect(traceparentUpstream("without traces")).toBe("");
  await plain.stop();
  expect(plain.told.filter((line) => line.includes("@opentelemetry/"))).toEqual([]);
  expect(plain.log.join("\n")).not.toContain("trace_id");
  rmSync(plain.dataDirectory, { recursive: true });
});

/** Tells at the end of a process what it loaded of OpenTelemetry, but for the bare names that prom-client uses. */
const LOADED = `data:text/javascript,${encodeURIComponent(
  `import { createRequire } from "node:module";
   const { cache } = createRequire(process.cwd() + "/");
   const loaded = () => Object.keys(cache).filter((name) => /@opentelemetry.(?!api)/.test(name));
   process.on("exit", () => console.error(loaded().join()));`,
)}`;

test.each([
  { variable: "OTEL_TRACES_EXPORTER", value: "zipkin", says: "otlp, console or none" },
  { variable: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "grpc", says: "http/protobuf or http/json" },
])("a start with $variable=$value says in one line what is possible", async ({ variable, value, says }) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, [variable]: value };
  await expect(startGateway({ env })).rejects.toThrow(new RegExp(`${variable} must be ${says}, not "${value}"`));
});
