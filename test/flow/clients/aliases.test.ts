/** Other names of models: who may use them, what a request by one costs, and what is written of it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { chat, postChat } from "../../support/chat-call.js";
import { callFormat, FORMAT_CALLS, listedNames } from "../../support/every-format.js";
import { settingsFor, startWorld, type World } from "../../support/world.js";

const ALIASES =
  "aliases:\n  fast: { model: fake-1, display_name: Fast and cheap }\n  team/best: { model: org/deep-1 }\n";
const SCOPES = ["chat", "embeddings", "rerank", "moderations", "audio", "models"];

let world: World;

beforeAll(async () => {
  world = await startWorld("one process", undefined, ALIASES);
});
afterAll(() => world.close());

const keyOf = async (settings: object): Promise<string> =>
  (await world.management.makeKey("acme", { scopes: SCOPES, ...settings })).secret;
const objects = (method: string, path: string, body?: object) =>
  world.management.call(method, `/settings/objects${path}`, body);
const make = (name: string, model: string) => objects("POST", "", { object: { name, alias: { model } } });
const messageOf = ({ body }: { readonly body: object }): string =>
  (body as { error: { message: string } }).error.message;

interface Answered {
  readonly model: string;
  readonly usage: { readonly prompt_tokens: number };
}

test.each([
  { name: "the alias alone", settings: { models: ["fast"] }, may: false },
  { name: "the model alone", settings: { models: ["fake-1"] }, may: false },
  { name: "both", settings: { models: ["fast", "fake-*"] }, may: true },
  { name: "all but the alias", settings: { models_denied: ["fast"] }, may: false },
  { name: "all but the model", settings: { models_denied: ["fake-1"] }, may: false },
  { name: "all", settings: {}, may: true },
])("a key that may use $name is judged alike in every format", async ({ settings, may }) => {
  const secret = await keyOf(settings);
  for (const call of FORMAT_CALLS) {
    const response = await callFormat(world.front, secret, call, "fast");
    const text = await response.text();
    expect([call.name, response.status === 403], text).toEqual([call.name, !may]);
    expect(response.status, `${call.name} ${text}`).not.toBe(404);
  }
  const estimate = await fetch(`${world.front.url}/api/v1/estimate/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(chat("hi", { model: "fast" })),
  });
  expect(await estimate.json()).toMatchObject({ admitted: may });
  expect((await listedNames(world.front, secret)).includes("fast")).toBe(may);
});

test("OpenAI's client lists an alias and finds it, with the price of its model", async () => {
  const client = world.client();
  const ids: string[] = [];
  for await (const { id } of client.models.list()) ids.push(id);
  expect(ids).toEqual(expect.arrayContaining(["fake-1", "fast", "team/best"]));
  const [alias, model] = [await client.models.retrieve("fast"), await client.models.retrieve("fake-1")];
  expect({ ...alias, id: "" }).toEqual({ ...model, id: "", alias_of: "fake-1" });
});

test.each([
  {
    format: "Anthropic",
    path: "/v1/models/fast",
    headers: { "anthropic-version": "2023-06-01" },
    member: "display_name",
  },
  { format: "Gemini", path: "/v1beta/models/fast", headers: {}, member: "displayName" },
])("$format's clients see the shown name", async ({ path, headers, member }) => {
  const response = await fetch(`${world.front.url}${path}`, {
    headers: { authorization: `Bearer ${world.secret}`, ...headers },
  });
  expect(((await response.json()) as Record<string, unknown>)[member]).toBe("Fast and cheap");
});

test("a request by an alias is charged as its model, and the record and the log have both names", async () => {
  const response = await postChat(world.front, world.secret, chat("hi", { model: "FAST" }));
  expect(response.status).toBe(200);
  const id = response.headers.get("x-request-id") ?? "";
  expect(((await response.json()) as Answered).model).toBe("fake-1");
  await expect
    .poll(async () => (await world.management.call("GET", `/requests/${id}`)).body)
    .toMatchObject({ request: { model: "fake-1", detail: { asked_model: "FAST" } } });
  const line = await world.core.logged(`"request_id":"${id}"`);
  expect(line).toContain(`"model":"fake-1","asked_model":"FAST"`);
  const metrics = await (await fetch(`http://${world.core.admin}/metrics`)).text();
  expect(metrics).toMatch(/tollgate_alias_requests_total\{alias="fast",model="fake-1"\} [1-9]/);
  const own = await postChat(world.front, world.secret, chat("hi"));
  const ownId = own.headers.get("x-request-id") ?? "";
  await expect
    .poll(async () => (await world.management.call("GET", `/requests/${ownId}`)).body)
    .toMatchObject({ request: { model: "fake-1", detail: { asked_model: "" } } });
});

test("a changed alias serves the next request, and not the one that runs", async () => {
  expect((await make("moving", "fake-1")).status).toBe(200);
  const before = world.upstream.requests.length;
  const running = postChat(
    world.front,
    world.secret,
    chat(JSON.stringify({ fake: { headDelayMs: 1_500, id: "moving-alias" } }), { model: "moving" }),
  );
  await expect.poll(() => world.upstream.requests.length).toBe(before + 1);
  const changed = await objects("PATCH", "/alias/moving", { object: { alias: { model: "other-1" } } });
  expect(changed.status).toBe(200);
  const next = await postChat(world.front, world.secret, chat("hi", { model: "moving" }));
  expect(((await next.json()) as Answered).model).toBe("other-1");
  const ended = await running;
  expect(((await ended.json()) as Answered).model).toBe("fake-1");
  const receipt = (await world.management.call("GET", `/requests/${ended.headers.get("x-request-id")}`)).body;
  expect(receipt).toMatchObject({ request: { model: "fake-1" } });
  expect((await objects("DELETE", "/alias/moving")).status).toBe(200);
  expect((await postChat(world.front, world.secret, chat("hi", { model: "moving" }))).status).toBe(404);
});

test("an alias names a model, and no alias or stranger, and has a name of its own", async () => {
  expect(messageOf(await make("lost", "fake-2"))).toMatch(/"fake-2" is none; did you mean "fake-1"\?/);
  expect((await make("one", "fake-1")).status).toBe(200);
  expect(messageOf(await make("two", "one"))).toContain('must name a model; "one" is an alias');
  expect(messageOf(await make("two", "fast"))).toContain('"fast" is none');
  const ofFile = await make("other-1", "fake-1");
  expect([ofFile.status, messageOf(ofFile)]).toEqual([409, expect.stringContaining("in tollgate.yaml")]);
  const model = { targets: [{ upstream: "fake" }], price: { free: true }, output_tokens_max: 10 };
  const likeAlias = await objects("POST", "", { object: { name: "fast", model } });
  expect(likeAlias.status).toBe(409);
  const mine = await objects("POST", ":apply", { changes: [{ set: { name: "one", model } }] });
  expect(messageOf(mine)).toContain("has the name of a model");
  await objects("DELETE", "/alias/one");
});

test("a model that an alias names is not deleted, and the refusal lists the aliases", async () => {
  const model = { targets: [{ upstream: "fake" }], price: { free: true }, output_tokens_max: 10 };
  const upstream = { family: "openai-compatible", base_url: world.upstream.url, api_key: "sk-1" };
  const changes = [
    { set: { name: "own", upstream } },
    { set: { name: "named", model: { ...model, targets: [{ upstream: "own" }] } } },
    { set: { name: "a1", alias: { model: "named" } } },
    { set: { name: "a2", alias: { model: "named" } } },
  ];
  expect((await objects("POST", ":apply", { changes })).status).toBe(200);
  expect(messageOf(await objects("DELETE", "/model/named"))).toContain(
    "is named by the aliases a1, a2: change or delete them first",
  );
  const gone = ["model/named", "alias/a1", "alias/a2", "upstream/own"].map((id) => {
    const [kind, name] = id.split("/");
    return { delete: { kind, name } };
  });
  expect((await objects("POST", ":apply", { changes: gone })).status).toBe(200);
});

test("an alias moves to the database and back while it is served", async () => {
  const listed = async () =>
    ((await objects("GET", "?kind=alias")).body["objects"] as Record<string, unknown>[]).map(
      ({ name, source, alias, problem }) => ({ name, source, alias, problem }),
    );
  const alias = { model: "fake-1", display_name: "Fast and cheap" };
  const settled = { name: "fast", source: "file", alias, problem: "" };
  expect(await listed()).toContainEqual(settled);
  expect((await objects("POST", ":move", { kind: "alias", name: "fast", to: "database" })).status).toBe(200);
  expect(await listed()).toContainEqual({ name: "fast", source: "database", alias, problem: "" });
  expect((await postChat(world.front, world.secret, chat("hi", { model: "fast" }))).status).toBe(200);
  expect((await objects("POST", ":move", { kind: "alias", name: "fast", to: "file" })).status).toBe(200);
  expect(await listed()).toContainEqual(settled);
});

test("a file's alias that names nothing is refused with its line; one may name a model of the database", async () => {
  const settings = settingsFor(world.upstream.url) + ALIASES;
  const model = { targets: [{ upstream: "mine" }], price: { free: true }, output_tokens_max: 10 };
  const upstream = { family: "openai-compatible", base_url: world.upstream.url, api_key: "sk-1" };
  const changes = [{ set: { name: "mine", upstream } }, { set: { name: "stored", model } }];
  world.core.writeSettings(`${settings}  odd: { model: fake-9 }\n`);
  process.kill(world.core.pid, "SIGHUP");
  expect(await world.core.logged("is refused and changes nothing")).toMatch(/aliases\.odd\.model: must name one of/);
  expect((await objects("POST", ":apply", { changes })).status).toBe(200);
  world.core.writeSettings(`${settings}  odd: { model: stored }\n`);
  process.kill(world.core.pid, "SIGHUP");
  await expect.poll(() => listedNames(world.front, world.secret)).toContain("odd");
  expect(messageOf(await objects("DELETE", "/model/stored"))).toContain("named by the alias odd of the settings file");
});
