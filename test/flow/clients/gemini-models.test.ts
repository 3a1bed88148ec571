/** The models as Google's official client lists and gets them. */
import { ApiError } from "@google/genai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GeminiWorld, startGeminiWorld } from "../../support/gemini-world.js";

let world: GeminiWorld;
beforeAll(async () => {
  world = await startGeminiWorld();
});
afterAll(() => world.close());

const IDS = [
  "fake-1",
  "gemini-2.5-flash",
  "gemini-3-flash",
  "org/deep-1",
  ...["a", "b", "c", "d"].map((name) => `refusing-fake-${name}`),
  ...["a", "b", "c", "d"].map((name) => `refusing-google-${name}`),
];

async function listed(config: object): Promise<(string | undefined)[]> {
  const names: (string | undefined)[] = [];
  for await (const model of await world.genai.models.list({ config })) names.push(model.name);
  return names;
}

test("all are listed, in one page or in many", async () => {
  const names = IDS.map((id) => `models/${id}`);
  expect(await listed({})).toEqual(names);
  expect(await listed({ pageSize: 5 })).toEqual(names);
  expect(await listed({ pageSize: 5_000 })).toEqual(names);
});

test.each(["gemini-2.5-flash", "models/gemini-2.5-flash", "org/deep-1", "fake-1"])("%s is got", async (model) => {
  expect(await world.genai.models.get({ model })).toMatchObject({
    name: `models/${model.replace("models/", "")}`,
    inputTokenLimit: 100_000,
    outputTokenLimit: 1_000,
    supportedActions: ["generateContent", "countTokens"],
  });
});

test("what is not there, not allowed or not asked well is refused in Google's envelope", async () => {
  const unknown = await world.genai.models.get({ model: "nope" }).catch((error: unknown) => error);
  expect(unknown).toBeInstanceOf(ApiError);
  expect(unknown).toMatchObject({ status: 404 });
  const get = (path: string, key = world.secret): Promise<Response> =>
    fetch(`${world.gateway.url}/v1beta/models${path}`, { headers: { "x-goog-api-key": key } });
  const badPage = await get("?pageSize=-1");
  expect(badPage.status).toBe(400);
  expect(await badPage.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  expect((await get("?pageToken=%00")).status).toBe(400);
  expect((await get("", "sk-nobody-has-this-key-1")).status).toBe(401);
  const { secret } = await world.management.makeKey("acme", { models: ["fake-*"] });
  expect(await (await get("", secret)).json()).toMatchObject({ models: [{ name: "models/fake-1" }] });
  expect((await get("/gemini-3-flash", secret)).status).toBe(403);
  const { secret: other } = await world.management.makeKey("acme", { scopes: ["chat"] });
  expect((await get("", other)).status).toBe(403);
});

test("the key may stand in the query, as for every route of the format", async () => {
  const response = await fetch(`${world.gateway.url}/v1beta/models/fake-1?key=${world.secret}`);
  expect(response.status).toBe(200);
});
