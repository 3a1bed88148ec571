/** What a client of each format is told of the models, through its official package, and what the bare address says. */
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anthropic } from "../../../src/formats/anthropic.js";
import { gemini } from "../../../src/formats/gemini.js";
import { openaiCompletions } from "../../../src/formats/openai-completions.js";
import { openaiResponses } from "../../../src/formats/openai-responses.js";
import { openai } from "../../../src/formats/openai.js";
import { type GatewayProcess, startGateway } from "../../support/gateway-process.js";
import { Management } from "../../support/management.js";

const SETTINGS = `
upstreams:
  up-openai: { family: openai, base_url: "http://127.0.0.1:9/v1", api_key: sk-upstream-secret }
  up-claude: { family: anthropic, base_url: "http://127.0.0.1:9", api_key: sk-upstream-secret }
models:
  gpt-5.4:
    targets: [{ upstream: up-openai }]
    context_tokens: 400000
    output_tokens_max: 128000
    price: { input: "1.25", cache_read: "0.125", output: "10" }
    retires: 2027-01-31
  claude-opus-5:
    targets: [{ upstream: up-claude }]
    context_tokens: 200000
    output_tokens_max: 64000
    price: { input: "5", output: "25" }
    retires: 2027-02-28
`;
const PRICE = { unit: "USD per million tokens", input: "1.25", cache_read: "0.125", output: "10.00" };

let gateway: GatewayProcess;
let secret: string;
beforeAll(async () => {
  gateway = await startGateway({ settings: SETTINGS });
  const management = new Management(gateway);
  await management.account("acme", 1_000_000_000n);
  ({ secret } = await management.makeKey("acme"));
});
afterAll(() => gateway.stop());

async function all<Model>(list: AsyncIterable<Model>): Promise<Model[]> {
  const models: Model[] = [];
  for await (const model of list) models.push(model);
  return models;
}

test("OpenAI's client hears of capabilities, limits, price, last day, and of the family as the owner", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret });
  const models = await all(client.models.list());
  expect(models.find(({ id }) => id === "gpt-5.4")).toMatchObject({
    object: "model",
    owned_by: "openai",
    context_tokens: 400_000,
    output_tokens_max: 128_000,
    capabilities: { images: true, tools: true, thinking: true, efforts: expect.arrayContaining(["low", "high"]) },
    price: PRICE,
    shutdown_date: "2027-01-31",
  });
  expect(models.map(({ id, owned_by: owner }) => [id, owner])).toContainEqual(["claude-opus-5", "anthropic"]);
});

test("Anthropic's client hears of them in its own shape", async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: secret });
  const models = await all(client.models.list());
  expect(models.find(({ id }) => id === "claude-opus-5")).toMatchObject({
    type: "model",
    max_input_tokens: 200_000,
    max_tokens: 64_000,
    capabilities: { image_input: { supported: true }, thinking: { supported: true } },
    price: { input: "5.00", output: "25.00" },
    retires_at: "2027-02-28T00:00:00.000Z",
  });
});

test("Google's client hears of them in its own shape", async () => {
  const client = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: gateway.url } });
  const models = await all(await client.models.list());
  expect(models.find(({ name }) => name === "models/gpt-5.4")).toMatchObject({
    inputTokenLimit: 400_000,
    outputTokenLimit: 128_000,
  });
  // Its package keeps only what it knows of an entry.
  const told = await fetch(`${gateway.url}/v1beta/models/gpt-5.4`, { headers: { "x-goog-api-key": secret } });
  expect(await told.json()).toMatchObject({
    supportedGenerationMethods: ["generateContent", "countTokens"],
    thinking: true,
    price: PRICE,
    retireTime: "2027-01-31T00:00:00.000Z",
  });
});

test("the bare address names every client format by an address of its own", async () => {
  const about = (await (await fetch(gateway.url)).json()) as { formats: Readonly<Record<string, string>> };
  const named = Object.values(about.formats).join("\n").replaceAll("{model}", ":model");
  for (const { name, routes } of [openai, openaiResponses, openaiCompletions, anthropic, gemini])
    for (const kind of new Set(routes.map((route) => route.kind)))
      if (kind !== "count") {
        const own = routes.filter((route) => route.kind === kind);
        const isNamed = own.some(({ path }) => named.includes(path.replace("([^]+)", "").replace("::", ":")));
        expect(isNamed, `${name}, ${kind}`).toBe(true);
      }
});
