/** Models of wildcards: which exist, what they cost, who may use them, and what is bounded. */
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { callFormat, FORMAT_CALLS, listedNames } from "../../support/every-format.js";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const KEY = "fake-credential-of-wildcards";
const PRICE = `price_from: ceiling, price: { input: "1000", output: "2000" }`;
const CEILING = `${PRICE}, context_tokens: 1000, output_tokens_max: 10`;

const WAIT = { timeout: 60_000, interval: 50 };

let vendor: FakeVendor;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  vendor = await startFakeVendor(KEY);
  const settings = `
upstreams:
  openai: { family: openai, base_url: "${vendor.url}", api_key: ${KEY} }
models:
  "openai/*": { targets: [{ upstream: openai, model: "*" }] }
  "openai/gpt-4*": { targets: [{ upstream: openai, model: "gpt-4*" }], display_name: Fourth }
  "listed/*": { targets: [{ upstream: openai, model: "*" }], serve: list }
  "any/*": { targets: [{ upstream: openai, model: "*" }], ${CEILING} }
  openai/gpt-4o: { targets: [{ upstream: openai, model: gpt-4o }], price: free, output_tokens_max: 10 }
aliases:
  mini: { model: openai/gpt-4o-mini }
`;
  gateway = await startGateway({ settings });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  secret = await keyOf({});
  await vi.waitFor(async () => expect(await listedNames(gateway, secret)).toContain("listed/gpt-4o-mini"), WAIT);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.close();
});

const SCOPES = ["chat", "embeddings", "rerank", "moderations", "audio", "models"];
const keyOf = async (settings: object): Promise<string> =>
  (await management.makeKey("acme", { scopes: SCOPES, ...settings })).secret;
const ask = (model: string, key = secret): Promise<Response> => postChat(gateway, key, chat("hi", { model }));
const priceOf = async (model: string): Promise<unknown> =>
  ((await management.call("GET", `/models/${model}`)).body["model"] as { price: { input_picos: string } }).price
    .input_picos;

test("OpenAI's client lists the models of the upstream's list that have a price, and finds others", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret });
  const ids: string[] = [];
  for await (const { id } of client.models.list()) ids.push(id);
  expect(ids.sort()).toEqual([
    "any/gpt-4o-mini",
    "any/own",
    "listed/gpt-4o-mini",
    "mini",
    "openai/gpt-4o",
    "openai/gpt-4o-mini",
  ]);
  expect((await client.models.retrieve("openai/o3")).id).toBe("openai/o3");
});

test("a model of a wildcard serves at the published price, and an exact name or a longer one comes first", async () => {
  expect((await ask("openai/gpt-4o-mini")).status).toBe(200);
  expect(await priceOf("openai/gpt-4o-mini")).toBe("150000");
  expect((await management.call("GET", "/models/openai/gpt-4o-mini")).body).toMatchObject({
    model: { display_name: "Fourth" },
  });
  expect(await priceOf("openai/gpt-4o")).toBe("0");
  expect((await ask("OpenAI/O3")).status).toBe(200);
  expect((await ask("mini")).status).toBe(200);
});

test("a model without a known price or limits is refused, counted and shown to operators", async () => {
  for (const model of ["openai/own", "openai/of-nobody", "openai/of-nobody"]) {
    const response = await ask(model);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: "model_not_found", message: expect.stringContaining("its price or its limits are not known") },
    });
  }
  const shown = (await management.call("GET", "/models")).body["unpriced_models"];
  expect(shown).toMatchObject([
    { id: "openai/of-nobody", wildcard: "openai/*", request_count: "2" },
    { id: "openai/own", wildcard: "openai/*", request_count: "1" },
  ]);
  const own = await fetch(`${gateway.url}/api/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
  expect(((await own.json()) as { unpriced_models: unknown }).unpriced_models).toEqual([]);
  expect((await ask("listed/gpt-4o")).status).toBe(404);
  expect((await ask("listed/gpt-4o-mini")).status).toBe(200);
  expect((await ask("nobody/gpt-4o")).status).toBe(404);
});

test("a name that begins like a known model is another model, and a dated one is the same", async () => {
  expect((await ask("openai/gpt-4o-mini-of-our-own")).status).toBe(404);
  expect((await ask("openai/gpt-4o-mini-2024-07-18")).status).toBe(200);
});

test("a name of the settings in other letters is not another model of the wildcard", async () => {
  const denied = await keyOf({ models_denied: ["openai/GPT-4o-mini"] });
  expect((await ask("openai/gpt-4o-mini", denied)).status).toBe(403);
});

test("the ceiling is charged for whatever comes, and metrics have the name of the wildcard", async () => {
  const response = await ask("any/What-Ever");
  expect(response.status).toBe(200);
  const id = response.headers.get("x-request-id") ?? "";
  expect((await management.call("GET", `/requests/${id}`)).body).toMatchObject({
    request: { model: "any/what-ever", cost_nanos: "10000000" },
  });
  await Promise.all(Array.from({ length: 20 }, async (_, index) => (await ask(`any/name-${index}`)).text()));
  const metrics = await (await fetch(`http://${gateway.admin}/metrics`)).text();
  expect(metrics).toContain(`model="any/*"`);
  expect(metrics).not.toContain("name-1");
  expect(metrics).toContain(`tollgate_unpriced_models_total{wildcard="openai/*"}`);
});

test.each([
  { name: "the wildcard's models", settings: { models: ["openai/*"] }, may: true },
  { name: "all but some of its models", settings: { models_denied: ["openai/gpt-4*", "openai/o*"] }, may: false },
  { name: "other models", settings: { models: ["any/*"] }, may: false },
])("a key that may use $name is judged alike in every format", async ({ settings, may }) => {
  const key = await keyOf(settings);
  for (const model of ["openai/gpt-4o-mini", "OPENAI/GPT-4o-Mini", "openai/o3", "openai/O3", "openai/of-nobody"])
    for (const call of FORMAT_CALLS) {
      const response = await callFormat(gateway, key, call, model);
      const text = await response.text();
      expect([call.name, model, response.status === 403], text).toEqual([call.name, model, !may]);
    }
  const names = (await listedNames(gateway, key)).filter((name) => name.startsWith("openai/"));
  expect(names.length > 0).toBe(may);
});

test("wildcards of the database are priced at once, and go with the upstream's list", async () => {
  const model = { targets: [{ upstream: "openai", model: "*" }] };
  const object = (more: object = {}) => ({ object: { name: "db/*", model: { ...model, ...more } } });
  const wrong = await management.call("POST", "/settings/objects", object({ price_from: "ceiling" }));
  expect((wrong.body["error"] as { message: string }).message).toContain("is missing: price_from: ceiling needs it");
  const upstream = { family: "openai", base_url: vendor.url, api_key: KEY };
  await management.call("POST", "/settings/objects", { object: { name: "second", upstream } });
  const targets = [{ upstream: "second", model: "*" }];
  expect((await management.call("POST", "/settings/objects", object({ targets }))).status).toBe(200);
  await expect.poll(() => listedNames(gateway, secret)).toContain("db/gpt-4o-mini");
  expect(await priceOf("db/o3")).toBe(await priceOf("openai/o3"));
  const alias = { object: { name: "third", alias: { model: "db/o3" } } };
  expect((await management.call("POST", "/settings/objects", alias)).status).toBe(200);
  const gone = await management.call("DELETE", "/settings/objects/model/db%2F*");
  expect((gone.body["error"] as { message: string }).message).toContain("is named by the alias third");
});
