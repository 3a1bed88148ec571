/** What a request says about who may answer it: `models` and `provider`, which no upstream gets. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readAll } from "../../support/chat-call.js";
import { type FakeUpstream, script, startFakeUpstream } from "../../support/fake-upstream.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";
import { says } from "../../support/world.js";

type Json = Readonly<Record<string, unknown>>;

const PRICED = 'output_tokens_max: 100, context_tokens: 10000, price: { input: "1", output: "2" }';

let first: FakeUpstream;
let second: FakeUpstream;
let gateway: GatewayProcess;
let management: Management;
let secret: string;

beforeAll(async () => {
  [first, second] = await Promise.all([startFakeUpstream(), startFakeUpstream()]);
  gateway = await startGateway({
    settings: `
upstreams:
  first: { family: openai-compatible, base_url: "${first.url}" }
  second: { family: openai-compatible, base_url: "${second.url}" }
models:
  pair: { targets: [{ upstream: first }, { upstream: second, priority: 2 }], ${PRICED} }
  lone: { targets: [{ upstream: first }], ${PRICED} }
  costly: { targets: [{ upstream: first, cost: { input: "1", output: "2" } },
    { upstream: second, priority: 2, cost: { input: "1", output: "3" } }], ${PRICED} }
  drained: { targets: [{ upstream: first }, { upstream: second, weight: 0 }], ${PRICED} }
  sorted: { targets: [{ upstream: first, cost: { input: "2", output: "2" } },
    { upstream: second, priority: 2, cost: { input: "1", output: "2" } }], ${PRICED} }
  named:floor: { targets: [{ upstream: first, cost: { input: "2", output: "2" } },
    { upstream: second, priority: 2, cost: { input: "1", output: "2" } }], ${PRICED} }
  spare: { targets: [{ upstream: second }], output_tokens_max: 100, price: { input: "3", output: "4" } }
`,
  });
  management = new Management(gateway);
  await management.account("acme", 100_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(async () => {
  for (const id of ["first", "second"]) await management.call("POST", `/upstreams/${id}:reset`, {});
  [first.override, second.override] = [undefined, undefined];
});

async function ask(body: Json, path = "chat/completions"): Promise<{ status: number; upstream: string; text: string }> {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const upstream = response.headers.get("x-tollgate-upstream") ?? "";
  return { status: response.status, upstream, text: await readAll(response) };
}
const chat = (more: Json): Json => ({ model: "pair", messages: says("Hello"), ...more });

describe("an upstream", () => {
  test.each([
    { name: "of `order` is tried first", provider: { order: ["second"] }, upstream: "second" },
    { name: "that `only` names is the only one", provider: { only: ["second"] }, upstream: "second" },
    { name: "that `ignore` names is left out", provider: { ignore: ["first"] }, upstream: "second" },
    { name: "without a name of ours changes nothing", provider: { order: ["Azure"] }, upstream: "first" },
  ])("$name", async ({ provider, upstream }) => {
    const answered = await ask(chat({ provider }));
    expect(answered, answered.text).toMatchObject({ status: 200, upstream });
  });

  test("beside those of `order` answers unless `allow_fallbacks` is false", async () => {
    second.override = { status: 503 };
    expect(await ask(chat({ provider: { order: ["second"] } }))).toMatchObject({ status: 200, upstream: "first" });
    const strict = await ask(chat({ provider: { order: ["second"], allow_fallbacks: false } }));
    expect(strict.status, strict.text).toBe(503);
  });
});

test.each(["costly", "drained"])(
  "a request cannot choose a target that is dearer or gets no new work: %s",
  async (model) => {
    const chosen = await ask(chat({ model, provider: { only: ["second"] } }));
    expect(chosen.status, chosen.text).toBe(400);
    expect(chosen.text).not.toContain("first");
    const ordered = await ask(chat({ model, provider: { order: ["second"] } }));
    expect(ordered, ordered.text).toMatchObject({ status: 200, upstream: "first" });
  },
);

test.each([
  { name: "by price", body: { model: "sorted", provider: { sort: "price" } }, upstream: "second" },
  { name: "by the suffix of its name", body: { model: "sorted:floor" }, upstream: "second" },
  { name: "not by what nobody measured", body: { model: "sorted:nitro" }, upstream: "first" },
  { name: "not to a dearer target", body: { model: "costly:floor" }, upstream: "first" },
  { name: "not where a model has the suffix in its name", body: { model: "named:floor" }, upstream: "first" },
])("a request sorts targets $name", async ({ body, upstream }) => {
  const answered = await ask(chat(body));
  expect(answered, answered.text).toMatchObject({ status: 200, upstream });
});

test("a sorted request still fails over", async () => {
  second.override = { status: 503 };
  expect(await ask(chat({ model: "sorted:floor" }))).toMatchObject({ status: 200, upstream: "first" });
});

test("an estimate refuses what a request would be refused for", async () => {
  const response = await fetch(`${gateway.url}/api/v1/estimate`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(chat({ provider: { only: ["nowhere"] } })),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toContain("leaves no upstream");
});

test("the models of a request answer in its order when the one that it names fails", async () => {
  first.override = { status: 503 };
  const answered = await ask(chat({ model: "lone", models: ["absent", "spare"] }));
  expect(answered, answered.text).toMatchObject({ status: 200, upstream: "second" });
  expect(answered.text).toContain('"model":"spare"');
});

test("a model above the highest price is refused, and is no fallback", async () => {
  const above = await ask(chat({ provider: { max_price: { prompt: 0.5 } } }));
  expect(above.status).toBe(400);
  expect(above.text).toContain("provider.max_price.prompt");
  first.override = { status: 503 };
  const cheap = { max_price: { prompt: "1", completion: 2 } };
  const answered = await ask(chat({ model: "lone", models: ["spare"], provider: cheap }));
  expect(answered.status, answered.text).toBe(503);
});

test.each([
  { body: { provider: { only: ["nowhere"] } }, param: "provider" },
  { body: { provider: { sort: "fame" } }, param: "provider.sort" },
  { body: { provider: { zdr: "yes" } }, param: "provider.zdr" },
  { body: { provider: { data_collection: "some" } }, param: "provider.data_collection" },
  { body: { provider: { quantizations: ["int4"] } }, param: "provider.quantizations" },
  { body: { provider: { order: "first" } }, param: "provider.order" },
  { body: { provider: [] }, param: "provider" },
  { body: { models: ["a", "b", "c", "d", "e"] }, param: "models" },
  { body: { models: [1] }, param: "models" },
])("wrong preferences are refused by name: $body", async ({ body, param }) => {
  const { status, text } = await ask(chat(body));
  expect(status, text).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ error: { param } });
});

test("a wire that does not read them refuses them", async () => {
  const { status, text } = await ask({ model: "pair", input: "Hello", models: ["spare"] }, "embeddings");
  expect(status, text).toBe(400);
});

test.each([
  { path: "chat/completions", body: chat({}) },
  { path: "responses", body: { model: "pair", input: script({ echo: true }) } },
])("no upstream gets them from $path", async ({ path, body }) => {
  const before = second.requests.length;
  const asked = { ...body, models: ["spare"], provider: { order: ["second"] } };
  const answered = await ask(asked, path);
  expect(answered.status, answered.text).toBe(200);
  const sent = second.requests[before]?.body as Json;
  expect(sent["model"]).toBe("pair");
  expect(sent).not.toHaveProperty("models");
  expect(sent).not.toHaveProperty("provider");
});
