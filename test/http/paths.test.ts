/** The addresses: models in one body for all clients, hints for wrong ones, and the public ones. */
import Fastify from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  GetModelRequest,
  GetModelResponse,
  ListModelsResponse,
  type Model,
  Price,
  PriceSource,
} from "../../src/api/index.js";
import { GatewayError } from "../../src/base/errors.js";
import { anthropic } from "../../src/formats/anthropic.js";
import { gemini } from "../../src/formats/gemini.js";
import { toyFormat } from "../support/toy-format.js";
import { RouteTable } from "../../src/http/routes.js";
import { KEY, startServer, type TestServer, until } from "../support/http-server.js";
import { RawClient } from "../support/raw-http.js";

const CREATED = new Date("2026-11-21T12:00:00Z");

const PRICED = {
  unit: "USD per million tokens",
  input: "0.25",
  cache_read: "0.025",
  output: "2.00",
  request_usd: "0.01",
};
const PRICE: Price = {
  ...Price.decode(new Uint8Array()),
  inputPicos: 250_000n,
  cacheReadPicos: 25_000n,
  outputPicos: 2_000_000n,
  requestPicos: 10_000_000_000n,
};

function model(id: string): Model {
  return {
    id,
    owner: "sim",
    createTime: CREATED,
    contextTokens: 128_000n,
    outputTokensMax: 0n,
    price: PRICE,
    upstreams: [],
    kind: undefined,
    capabilities: { images: true, tools: true, schemas: undefined, thinking: false, efforts: ["low", "high"] },
    retireTime: new Date("2027-01-31T00:00:00Z"),
    priceSource: PriceSource.PRICE_SOURCE_SETTINGS,
    aliasOf: "",
    displayName: "",
  };
}

let it: TestServer;
let asked: string | undefined;
beforeAll(async () => {
  it = await startServer({ formats: [toyFormat, anthropic, gemini] });
  it.channel.unaryScripts.set("/tollgate.v1.ModelService/ListModels", () =>
    ListModelsResponse.encode({ models: [model("a"), model("b/c")], nextPageToken: "", unpricedModels: [] }).finish(),
  );
  it.channel.unaryScripts.set("/tollgate.v1.ModelService/GetModel", ({ bytes }) => {
    asked = GetModelRequest.decode(bytes).id;
    if (asked === "gone") throw new GatewayError("ERROR_REASON_MODEL_UNKNOWN", { model: asked });
    return GetModelResponse.encode({ model: model(asked) }).finish();
  });
});
beforeEach(() => {
  asked = undefined;
});
afterAll(() => it.close());

describe("/v1/models", () => {
  test("lists the models as OpenAI's clients read them", async () => {
    const response = await fetch(`${it.url}/v1/models?limit=10`, { headers: KEY });
    expect(response.headers.get("x-request-id")).toBe("req_core");
    expect(await response.json()).toEqual({
      object: "list",
      data: ["a", "b/c"].map((id) => ({
        id,
        object: "model",
        created: 1_795_262_400,
        owned_by: "sim",
        kind: null,
        context_tokens: 128_000,
        output_tokens_max: null,
        capabilities: { images: true, tools: true, schemas: null, thinking: false, efforts: ["low", "high"] },
        price: PRICED,
        shutdown_date: "2027-01-31",
      })),
    });
  });

  test("lists them as Anthropic's clients read them, for those", async () => {
    const none = { supported: false };
    const some = { supported: true };
    const headers = { ...KEY, "anthropic-version": "2023-06-01" };
    const entry = (id: string): object => ({
      type: "model",
      id,
      display_name: id,
      created_at: "2026-11-21T12:00:00.000Z",
      lifecycle: "active",
      line: null,
      max_input_tokens: 128_000,
      max_tokens: null,
      capabilities: {
        batch: none,
        citations: none,
        code_execution: none,
        context_management: {
          supported: false,
          clear_thinking_20251015: null,
          clear_tool_uses_20250919: null,
          compact_20260112: null,
        },
        effort: { supported: true, low: some, medium: none, high: some, xhigh: none, max: none },
        image_input: some,
        pdf_input: some,
        server_tools: { supported: false, code_execution: none, web_search: none },
        structured_outputs: none,
        thinking: {
          supported: false,
          types: { adaptive: none, enabled: none, disabled: some, between_tools: none },
        },
      },
      deprecated_at: null,
      retires_at: "2027-01-31T00:00:00.000Z",
      price: PRICED,
    });
    const list = await (await fetch(`${it.url}/v1/models`, { headers })).json();
    expect(list).toEqual({ data: [entry("a"), entry("b/c")], has_more: false, first_id: "a", last_id: "b/c" });
    expect(await (await fetch(`${it.url}/v1/models/a`, { headers })).json()).toEqual(entry("a"));
  });

  test.each([
    { name: "header", path: "", headers: { "x-goog-api-key": "sk-good" } },
    { name: "query", path: "?key=sk-good", headers: {} },
  ])("lists them as Gemini's clients read them, for those whose key is in the $name", async ({ path, headers }) => {
    const list = await (await fetch(`${it.url}/v1/models${path}`, { headers })).json();
    expect(list).toMatchObject({ models: [{ name: "models/a" }, { name: "models/b/c" }] });
    expect(it.channel.calls.at(-1)?.metadata["x-api-key"]).toBe("sk-good");
    const one = await (await fetch(`${it.url}/v1/models/b/c${path}`, { headers })).json();
    expect(one).toMatchObject({ name: "models/b/c", inputTokenLimit: 128_000 });
    const beta = await (await fetch(`${it.url}/v1beta/models${path}`, { headers })).json();
    expect(beta).toEqual(list);
  });

  test("what the gateway serves is named at its door, each client format with an address", async () => {
    const about = await (await fetch(`${it.url}/`)).text();
    for (const path of ["/v1/chat/completions", "/v1/responses", "/v1/messages", ":generateContent", ":embedContent"])
      expect(about).toContain(path);
  });

  test("a client that names its version gets the catalogue of Codex", async () => {
    const response = await fetch(`${it.url}/v1/models?client_version=0.171.0`, { headers: KEY });
    expect(await response.json()).toMatchObject({ models: [{ slug: "a" }, { slug: "b/c" }] });
  });

  test.each([
    { path: "/v1/models/a", id: "a" },
    { path: "/v1/models/b%2Fc", id: "b/c" },
    { path: "/v1/models/b/c", id: "b/c" },
    { path: "/v1/models/b/c%3Afree", id: "b/c:free" },
    { path: "/v1/models/100%25", id: "100%" },
    { path: `/v1/models/${"m".repeat(300)}`, id: "m".repeat(300) },
    { path: "/v1/models/a?x=1", id: "a" },
  ])("$path asks for its identifier", async ({ path, id }) => {
    const response = await fetch(it.url + path, { headers: KEY });
    expect(response.status).toBe(200);
    expect(asked).toBe(id);
    expect(await response.json()).toMatchObject({ id, object: "model" });
  });

  test.each([
    { name: "no key", headers: {}, path: "/v1/models", status: 401 },
    { name: "an unknown model", headers: KEY, path: "/v1/models/gone", status: 404 },
  ])("$name is refused in the envelope of four", async ({ headers, path, status }) => {
    const response = await fetch(it.url + path, { headers });
    expect(response.status).toBe(status);
    expect(response.headers.get("x-should-retry")).toBe("false");
    const { error } = JSON.parse(await response.text());
    expect(Object.keys(error)).toEqual(["message", "type", "param", "code"]);
  });

  test("a client that another format recognises gets its envelope and headers", async () => {
    const headers = { "toy-mood": "merry" };
    const refused = await fetch(`${it.url}/v1/models`, { headers });
    expect(await refused.json()).toMatchObject({ broken: "invalid_api_key" });
    const listed = await fetch(`${it.url}/v1/models`, { headers: { ...headers, ...KEY } });
    expect(listed.headers.get("toy-id")).toBe("req_core");
  });
});

describe("an unknown address", () => {
  test.each([
    { method: "GET", path: "/v1/v1/models", hint: "/v1/models" },
    { method: "GET", path: "/v1/v1/v1/models/b/c", hint: "/v1/models/b/c" },
    { method: "GET", path: "/models", hint: "/v1/models" },
    { method: "GET", path: "/models?limit=3", hint: "/v1/models" },
    { method: "GET", path: "/models/b%2Fc", hint: "/v1/models/b%2Fc" },
    { method: "GET", path: "//v1/models", hint: "/v1/models" },
    { method: "GET", path: "/api/v1/keys/", hint: "/api/v1/keys" },
    { method: "GET", path: "/toy/red/say", hint: "POST /toy/red/say" },
    { method: "POST", path: "/models", hint: "GET /v1/models" },
    { method: "DELETE", path: "/api/v1/keys/", hint: "GET or POST /api/v1/keys" },
    { method: "GET", path: "/v1/models/", hint: "/v1/models" },
    { method: "GET", path: "/api/v1/ledger:verify", hint: "POST /api/v1/ledger:verify" },
    { method: "POST", path: "/api/v1/me", hint: "GET /api/v1/me" },
    { method: "DELETE", path: "/v1/models", hint: "GET /v1/models" },
    { method: "GET", path: "/nothing/like/it", hint: undefined },
    { method: "GET", path: `/${"v1/".repeat(2_000)}`, hint: undefined },
  ])("$method $path hints at $hint", async ({ method, path, hint }) => {
    const response = await fetch(it.url + path, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get("x-request-id")).toMatch(/^req_front_/);
    const { error } = JSON.parse(await response.text());
    expect(error).toMatchObject({ type: "invalid_request_error", code: "unknown_url", param: null });
    if (hint === undefined) expect(error.message).not.toContain("Did you mean");
    else expect(error.message).toContain(`Did you mean ${hint}?`);
  });

  test("is measured without its path, which anybody may choose", async () => {
    await fetch(`${it.url}/some/path`);
    await until(() => it.samples.at(-1)?.status === 404, "the sample");
    expect(it.samples.at(-1)).toEqual({ route: "unknown", status: 404 });
  });

  test("is answered before its body is read", async () => {
    const client = await RawClient.open(it.port);
    client.write("POST /nowhere HTTP/1.1\r\nhost: x\r\ncontent-length: 30000000\r\n\r\n");
    await until(() => client.text.includes("unknown_url"), "the refusal");
    client.socket.destroy();
  });
});

describe("a client that asks for a WebSocket", () => {
  const HEADERS = "host: x\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==";

  test.each(["websocket", "WebSocket"])("learns at once from the answer to %s to ask over HTTP", async (protocol) => {
    const client = await RawClient.open(it.port);
    client.write(`GET /toy/red/say?x=1 HTTP/1.1\r\n${HEADERS}\r\nupgrade: ${protocol}\r\n\r\n`);
    await until(() => client.text.includes("upgrade_refused"), "the refusal");
    expect(client.text).toMatch(/^HTTP\/1\.1 426 /);
    expect(client.text).toMatch(/\r\nupgrade: HTTP\/1\.1\r\n/);
    expect(client.text).toContain("x-should-retry: false");
    client.socket.destroy();
  });

  test.each([
    { name: "on no path of ours", path: "/nowhere", upgrade: "websocket" },
    { name: "for another protocol", path: "/toy/red/say", upgrade: "h2c" },
  ])("$name is told that the path is unknown", async ({ path, upgrade }) => {
    const client = await RawClient.open(it.port);
    client.write(`GET ${path} HTTP/1.1\r\n${HEADERS}\r\nupgrade: ${upgrade}\r\n\r\n`);
    await until(() => client.text.includes("unknown_url"), "the refusal");
    client.socket.destroy();
  });
});

describe("the public addresses", () => {
  test.each([
    { path: "/", has: "tollgate" },
    { path: "/livez", has: "live" },
    { path: "/readyz", has: "ready" },
  ])("$path needs no key", async ({ path, has }) => {
    const response = await fetch(it.url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(await response.text()).toContain(has);
    expect((await fetch(it.url + path, { method: "HEAD" })).status).toBe(200);
  });

  test.each([
    { name: "is not ready", ready: () => false },
    { name: "cannot say", ready: () => Promise.reject(new Error("no store")) },
  ])("/readyz answers 503 where the process $name", async ({ ready }) => {
    const other = await startServer({ ready });
    expect((await fetch(`${other.url}/readyz`)).status).toBe(503);
    await other.close();
  });
});

test("a route that does not say what it needs stops the start", () => {
  const app = Fastify();
  new RouteTable().watch(app);
  expect(() => app.get("/open", () => "secret")).toThrow("GET /open has no permission");
});
