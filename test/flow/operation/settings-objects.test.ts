/** Upstreams and models as objects of the database: made, changed, tested and restored over the API. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeVendor, startFakeVendor } from "../../support/fake-vendor.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { PRICE_LIST } from "../../../src/pricing/price-list.js";
import { Management } from "../../support/management.js";

const SECRET = "fake-credential-of-objects";
const ROTATED = "rotated-credential-of-objects";
const FILE = `upstreams:
  local: { family: sim }
models:
  sim-1: { targets: [{ upstream: local }], price: free, output_tokens_max: 1000 }
`;
const ENV = { TOLLGATE_SECRET_SOURCES: "env:ALLOWED_,file:/" };

let gateway: GatewayProcess;
let management: Management;
let vendor: FakeVendor;

beforeAll(async () => {
  vendor = await startFakeVendor(SECRET);
  gateway = await startGateway({ settings: FILE, env: ENV });
  management = new Management(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.close();
  rmSync(gateway.dataDirectory, { recursive: true });
});

interface Shown {
  readonly name: string;
  readonly kind: string;
  readonly source: string;
  readonly etag: string;
  readonly problem: string;
  readonly secrets_set: readonly string[];
  readonly upstream?: Readonly<Record<string, string>>;
  readonly model?: Readonly<Record<string, unknown>>;
}

const vendorOf = (more: object = {}) => ({
  name: "vendor",
  upstream: { family: "openai-compatible", api_key: SECRET, base_url: vendor.url, ...more },
});
const modelOf = (name: string, price: object = { input: "1", output: "2" }) => ({
  name,
  model: { targets: [{ upstream: "vendor", model: "gpt-4o-mini" }], price, output_tokens_max: 1000 },
});
const objects = async (): Promise<readonly Shown[]> =>
  (await management.call("GET", "/settings/objects")).body["objects"] as Shown[];
const find = async (name: string): Promise<Shown | undefined> => (await objects()).find((one) => one.name === name);
const errorOf = (answer: { readonly body: unknown }) =>
  (answer.body as { error: { message: string; param: string; code: string } }).error;

async function chat(model: string): Promise<number> {
  const { secret: key } = await management.makeKey("acme");
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
  });
  await answer.text();
  return answer.status;
}

const steps = async () => (await management.call("GET", "/settings/first-steps")).body;

test("a new gateway says what it still needs", async () => {
  const none = { upstream: false, tested: false, models: false, account: false, member: false, key: false };
  expect(await steps()).toEqual(none);
});

test("an upstream is tried before it is saved: its list, and a call that proves its key", async () => {
  const tried = await management.call("POST", "/settings/objects:test", { object: vendorOf() });
  expect(tried, JSON.stringify(tried.body)).toMatchObject({ status: 200, body: { result: "untested" } });
  const models = tried.body["models"] as { id: string; price?: object }[];
  expect(models.map(({ id }) => id)).toEqual(["gpt-4o-mini", "own"]);
  const called = await management.call("POST", "/settings/objects:test", {
    object: vendorOf(),
    call_model: "gpt-4o-mini",
  });
  expect(called.body).toMatchObject({ result: "well", problem: "" });
  const wrong = await management.call("POST", "/settings/objects:test", {
    object: vendorOf({ api_key: "another-key-of-a-test" }),
    call_model: "gpt-4o-mini",
  });
  expect(wrong.body).toMatchObject({ result: "credential", http_status: 401 });
  expect(await find("vendor")).toBeUndefined();
});

test("an upstream and its models come in one revision, and the next request is served", async () => {
  const applied = await management.call("POST", "/settings/objects:apply", {
    changes: [
      { set: vendorOf(), etag: "new" },
      { set: modelOf("acme/fast"), etag: "new" },
    ],
  });
  expect(applied, JSON.stringify(applied.body)).toMatchObject({ status: 200, body: { revision: "1" } });
  await management.call("POST", "/accounts", { id: "acme", name: "Acme" });
  await management.call("POST", "/accounts/acme:credit", { amount: "5.00", credit_id: "one" });
  expect(await chat("acme/fast")).toBe(200);
  expect(vendor.seen.at(-1)).toBe(SECRET);
  expect(await steps()).toMatchObject({ upstream: true, tested: true, models: true, account: true, key: true });
  const shown = await find("vendor");
  expect(shown).toMatchObject({ source: "database", problem: "", secrets_set: ["api_key"], etag: "1" });
  expect(shown?.upstream).toMatchObject({ family: "openai-compatible", api_key: "", base_url: vendor.url });
  expect(await find("sim-1")).toMatchObject({ source: "file" });
});

test("what is wrong is refused by its field, in the words of the settings file", async () => {
  const typo = await management.call("POST", "/settings/objects", {
    object: { name: "other", upstream: { family: "opena", api_key: "x" } },
  });
  expect(typo.status).toBe(400);
  expect(errorOf(typo)).toMatchObject({ param: "family" });
  expect(errorOf(typo).message).toContain('did you mean "openai"?');
  const nowhere = await management.call("POST", "/settings/objects", {
    object: { name: "lost", model: { targets: [{ upstream: "vendr" }], price: { free: true } } },
  });
  expect(errorOf(nowhere)).toMatchObject({ param: "targets[0].upstream" });
  expect(errorOf(nowhere).message).toContain('did you mean "vendor"?');
  const taken = await management.call("POST", "/settings/objects", {
    object: { name: "sim-1", model: { targets: [{ upstream: "vendor" }], price: { free: true } } },
  });
  expect(taken.status).toBe(409);
  expect(errorOf(taken).message).toContain("in tollgate.yaml");
  const variable = await management.call("POST", "/settings/objects", {
    object: { name: "other", upstream: { family: "openai", api_key: "env:HOME" } },
  });
  expect(errorOf(variable)).toMatchObject({ param: "api_key" });
  expect(errorOf(variable).message).toContain("TOLLGATE_SECRET_SOURCES");
});

test("what a change would do is said before it is made", async () => {
  const { body } = await management.call("POST", "/settings/objects:check", {
    changes: [{ set: modelOf("acme/fast", { input: "3", output: "4" }) }, { set: modelOf("acme/new") }],
  });
  expect(body["problems"]).toEqual([]);
  const effects = body["effects"] as { id: string; before?: object; after?: object }[];
  expect(effects.map(({ id, before, after }) => [id, before !== undefined, after !== undefined])).toEqual([
    ["acme/fast", true, true],
    ["acme/new", false, true],
  ]);
  expect(await find("acme/new")).toBeUndefined();
});

test("a check and the list of models say what the published list says, to operators alone", async () => {
  const published = { name: "published", upstream: { family: "openai", api_key: "sk-of-a-test" } };
  const on = (name: string, more: object) => ({ name, model: { targets: [{ upstream: "published", ...more }] } });
  const changes = [
    { set: published },
    { set: on("team/known", { model: "gpt-4o-mini" }) },
    { set: on("team/unknown", { model: "of-nobody" }) },
  ];
  const { body } = await management.call("POST", "/settings/objects:check", { changes });
  const list_price = {
    price: { input_picos: "150000" },
    upstream: "published",
    model: "gpt-4o-mini",
    list: PRICE_LIST.list,
    date: PRICE_LIST.date,
  };
  expect(body, JSON.stringify(body)).toMatchObject({
    problems: [],
    models: [
      { id: "team/known", problem: "", list_price },
      { id: "team/unknown", problem: expect.stringContaining("no price that is publicly known") },
    ],
  });
  await management.call("POST", "/settings/objects:apply", { changes: changes.slice(0, 2) });
  expect((await management.call("GET", "/models/team/known")).body).toMatchObject({ model: { list_price } });
  const { secret } = await management.makeKey("acme");
  const asTenant = await fetch(`${gateway.url}/api/v1/models/team/known`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  const { model } = (await asTenant.json()) as { model: { id: string; list_price?: object | null } };
  expect(model.id).toBe("team/known");
  expect(model.list_price ?? undefined).toBeUndefined();
  await management.call("POST", "/settings/objects:apply", {
    changes: ["model/team/known", "upstream/published"].map((id) => {
      const [kind, ...name] = id.split("/");
      return { delete: { kind, name: name.join("/") } };
    }),
  });
});

test("an upstream gets another name in one revision: its key goes along, and its models name it", async () => {
  const { upstream } = vendorOf({ api_key: "" });
  const renamed = { set: { name: "vendor-eu", upstream }, etag: "new", renamed_from: "vendor" };
  const model = modelOf("acme/fast");
  const moved = {
    set: { ...model, model: { ...model.model, targets: [{ upstream: "vendor-eu", model: "gpt-4o-mini" }] } },
  };
  const gone = { delete: { kind: "upstream", name: "vendor" } };
  const apply = (changes: readonly object[]) => management.call("POST", "/settings/objects:apply", { changes });
  expect(errorOf(await apply([renamed, moved])).message).toContain("must delete the upstream vendor");
  const elsewhere = {
    ...renamed,
    set: { name: "vendor-eu", upstream: { ...upstream, base_url: "http://127.0.0.1:9" } },
  };
  expect(errorOf(await apply([elsewhere, moved, gone])).message).toContain("must be given again");
  const done = await apply([renamed, moved, gone]);
  expect(done, JSON.stringify(done.body)).toMatchObject({ status: 200 });
  expect(await chat("acme/fast")).toBe(200);
  expect(vendor.seen.at(-1)).toBe(SECRET);
  expect(await find("vendor")).toBeUndefined();
  const back = { set: { name: "vendor", upstream }, renamed_from: "vendor-eu" };
  const again = await apply([back, { set: model }, { delete: { kind: "upstream", name: "vendor-eu" } }]);
  expect(again, JSON.stringify(again.body)).toMatchObject({ status: 200 });
});

test("a field is changed alone, and a change of what was changed meanwhile is refused", async () => {
  const before = await find("acme/fast");
  const changed = await management.call("PATCH", "/settings/objects/model/acme/fast", {
    object: { name: "acme/fast", model: { price: { input: "5", output: "6" } } },
    etag: before?.etag,
  });
  expect(changed, JSON.stringify(changed.body)).toMatchObject({ status: 200 });
  const after = await find("acme/fast");
  expect(after?.model).toMatchObject({ price: { input: "5", output: "6" }, targets: [{ upstream: "vendor" }] });
  const late = await management.call("PATCH", "/settings/objects/model/acme/fast", {
    object: { name: "acme/fast", model: { retires: "2030-01-01" } },
    etag: before?.etag,
  });
  expect(errorOf(late).code).toBe("etag_stale");
});

test("a key is sent to no other address than its own", async () => {
  const moved = await management.call("PATCH", "/settings/objects/upstream/vendor", {
    object: { name: "vendor", upstream: { base_url: "http://127.0.0.1:9/v1" } },
  });
  expect(errorOf(moved)).toMatchObject({ param: "api_key" });
  expect(errorOf(moved).message).toContain("must be given again");
  const quiet = await management.call("PATCH", "/settings/objects/upstream/vendor", {
    object: { name: "vendor", upstream: { unknown_members: "refuse" } },
  });
  expect(quiet.status).toBe(200);
  expect(await chat("acme/fast")).toBe(200);
});

test("a key that a file holds is used anew once the file changes, without a restart", async () => {
  const path = join(gateway.dataDirectory, "vendor-key");
  writeFileSync(path, `${SECRET}\n`);
  const referred = await management.call("PATCH", "/settings/objects/upstream/vendor", {
    object: { name: "vendor", upstream: { api_key: `file:${path}` } },
  });
  expect(referred, JSON.stringify(referred.body)).toMatchObject({ status: 200 });
  expect((await find("vendor"))?.upstream).toMatchObject({ api_key: `file:${path}` });
  expect(await chat("acme/fast")).toBe(200);
  vendor.accept(ROTATED);
  writeFileSync(path, ROTATED);
  await expect.poll(() => chat("acme/fast"), { timeout: 60_000, interval: 100 }).toBe(200);
  expect(vendor.seen.at(-1)).toBe(ROTATED);
});

test("an upstream that a model names is not deleted; what is deleted is served no more", async () => {
  const refused = await management.call("DELETE", "/settings/objects/upstream/vendor");
  expect(errorOf(refused).message).toContain("acme/fast");
  expect((await management.call("DELETE", "/settings/objects/model/acme/fast")).status).toBe(200);
  expect(await chat("acme/fast")).toBe(404);
});

test("each revision says what it changed, without secrets, and one is restored", async () => {
  const { body } = await management.call("GET", "/settings/revisions");
  const revisions = body["revisions"] as { revision: string; differences: { field: string; before: string }[] }[];
  expect(revisions[0]?.differences.map(({ field }) => field)).toContain("price.input");
  const all = JSON.stringify([body, (await management.call("GET", "/audit-events")).body]);
  expect(all).toContain("price");
  for (const secret of [SECRET, ROTATED]) expect(all).not.toContain(secret);
  const before = String(Number(revisions[0]?.revision) - 1);
  const restored = await management.call("POST", `/settings/revisions/${before}:restore`, {});
  expect(restored, JSON.stringify(restored.body)).toMatchObject({ status: 200 });
  expect(await chat("acme/fast")).toBe(200);
});

test("a restarted gateway serves the objects that it had", async () => {
  await gateway.stop();
  gateway = await startGateway({ settings: FILE, env: ENV, dataDirectory: gateway.dataDirectory });
  management = new Management(gateway);
  expect(await chat("acme/fast")).toBe(200);
  expect(gateway.log.join("\n")).not.toContain(ROTATED);
});

test("an object of the file is shown whole, with its place", async () => {
  const { body } = await management.call("GET", "/settings/objects/model/sim-1");
  expect(body["object"]).toMatchObject({
    name: "sim-1",
    source: "file",
    place: "tollgate.yaml:4",
    etag: "",
    model: { targets: [{ upstream: "local" }], price: { free: true }, output_tokens_max: "1000" },
  });
  expect(await find("local")).toMatchObject({ place: "tollgate.yaml:2", upstream: { family: "sim" } });
});

test("an object moves from the file to the database and back, and is served all the time", async () => {
  const path = "/settings/objects/model/sim-1";
  const move = (to: string) => management.call("POST", "/settings/objects:move", { kind: "model", name: "sim-1", to });
  expect(errorOf(await move("file"))).toMatchObject({ code: "not_found" });
  expect((await move("database")).body["object"]).toMatchObject({ source: "database", problem: "" });
  expect(errorOf(await move("database"))).toMatchObject({ code: "already_exists" });
  expect(await chat("sim-1")).toBe(200);
  const inFile = async () => (await objects()).find(({ name, source }) => name === "sim-1" && source === "file");
  expect((await inFile())?.problem).toContain("an equal object, which is in force: remove this one");

  const change = (tokens: number) =>
    management.call("PATCH", path, { object: { model: { output_tokens_max: tokens } } });
  expect((await change(999)).status).toBe(200);
  expect((await inFile())?.problem).toContain("another object of this name");
  expect(errorOf(await move("file"))).toMatchObject({ param: "output_tokens_max" });
  expect((await change(1000)).status).toBe(200);
  expect((await move("file")).body["object"]).toMatchObject({ source: "file", place: "tollgate.yaml:4", problem: "" });
  expect(await chat("sim-1")).toBe(200);
});
