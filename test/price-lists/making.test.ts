/** Public lists become one snapshot: in one unit, each beside the others, and what they differ in is said. */
import { calcPrice, type ModelInfo, type Provider } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import { makeSnapshot, type Sources } from "../../src/price-lists/making.js";

const NOW = Date.parse("2026-11-30T12:00:00Z");

const GENAI = [
  {
    id: "openai",
    name: "OpenAI",
    api_pattern: "https://api.openai.com",
    models: [
      {
        id: "gpt-9",
        name: "GPT-9",
        match: { or: [{ equals: "gpt-9" }, { equals: "gpt-9-2026-10-01" }] },
        context_window: 400_000,
        prices: {
          input_mtok: { base: 2.5, tiers: [{ start: 271_999, price: 5 }] },
          output_mtok: 15,
          cache_read_mtok: 0.25,
        },
      },
      { id: "gpt-9-mini", match: { starts_with: "gpt-9-mini" }, prices: { input_mtok: 0.25, output_mtok: 2 } },
    ],
  },
  { id: "unheard-of", api_pattern: "x", models: [{ id: "a", match: { equals: "a" }, prices: {} }] },
];
const MODELS_DEV = {
  openai: {
    id: "openai",
    models: {
      "gpt-9": {
        id: "gpt-9",
        cost: {
          input: 2.5,
          output: 15,
          reasoning: 15,
          cache_read: 0,
          tiers: [{ input: 5, output: 22.5, tier: { type: "context", size: 272_000 } }],
          context_over_200k: { input: 5, output: 22.5 },
        },
        limit: { context: 400_000, output: 128_000 },
      },
      "gpt-9-mini": { id: "gpt-9-mini", cost: { input: 250, output: 2 } },
      "gpt-free": { id: "gpt-free" },
    },
  },
};
const LITELLM = {
  sample_spec: { input_cost_per_token: "the cost in USD", litellm_provider: "one of https://docs" },
  "gpt-9-2026-10-01": { litellm_provider: "openai", input_cost_per_token: 1e-6 },
  "gpt-9": {
    litellm_provider: "openai",
    mode: "chat",
    input_cost_per_token: 2.5e-6,
    output_cost_per_token: 1.5e-5,
    cache_read_input_token_cost: 2.5e-7,
    cache_creation_input_token_cost_above_1hr: 4e-6,
    input_cost_per_token_above_272k_tokens: 5e-6,
  },
  "azure/gpt-9": { litellm_provider: "azure", input_cost_per_token: 3e-6 },
};

function sources(change: Partial<Record<keyof Sources, unknown>> = {}): Sources {
  const texts = { genaiPrices: GENAI, modelsDev: MODELS_DEV, liteLlm: LITELLM, ...change };
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  return { genaiPrices: text(texts.genaiPrices), modelsDev: text(texts.modelsDev), liteLlm: text(texts.liteLlm) };
}

function find(provider: Provider, name: string): ModelInfo | undefined {
  return calcPrice({}, name, { provider })?.model;
}

const make = (given: Sources) => makeSnapshot(given, { serial: 3, nowMs: NOW, days: 30, find });

test("each model has beside it what the other lists say, in USD per million tokens", () => {
  const { snapshot } = make(sources());
  expect([snapshot.serial, snapshot.made, snapshot.expires]).toEqual([
    3,
    "2026-11-30T12:00:00.000Z",
    "2026-12-30T12:00:00.000Z",
  ]);
  expect([...snapshot.providers.keys()]).toEqual(["openai"]);
  const [large, mini] = snapshot.providers.get("openai") ?? [];
  expect(large?.model).toEqual({
    id: "gpt-9",
    match: GENAI[0]?.models[0]?.match,
    context_window: 400_000,
    prices: GENAI[0]?.models[0]?.prices,
  });
  expect(large?.others).toEqual({
    "models.dev": { input_mtok: 2.5, output_mtok: 15, "input_mtok>272000": 5, "output_mtok>272000": 22.5 },
    LiteLLM: {
      input_mtok: 2.5,
      output_mtok: 15,
      cache_read_mtok: 0.25,
      cache_write_1h_mtok: 4,
      "input_mtok>272000": 5,
    },
  });
  expect(mini?.others).toEqual({ "models.dev": { input_mtok: 250, output_mtok: 2 } });
});

test("what lists differ in is said", () => {
  expect(make(sources()).disagreements).toEqual([
    { key: "openai/gpt-9-mini", component: "input_mtok", price: 0.25, source: "models.dev", other: 250 },
  ]);
});

describe("no snapshot is made", () => {
  test.each([
    { name: "of a list that is cut", given: sources({ genaiPrices: "[{" }), why: /^genai-prices cannot be read: / },
    { name: "of a list of other providers", given: sources({ genaiPrices: [] }), why: /none of the providers/ },
    {
      name: "of a model without prices",
      given: sources({ genaiPrices: [{ id: "openai", models: [{ id: "a", match: { equals: "a" } }] }] }),
      why: /^genai-prices cannot be read/,
    },
    { name: "where another list is no JSON", given: sources({ liteLlm: "<html>" }), why: /^LiteLLM cannot be read: / },
    {
      name: "where another list has another form",
      given: sources({ modelsDev: [1] }),
      why: /^models.dev cannot be read/,
    },
    { name: "where another list knows no model", given: sources({ liteLlm: {} }), why: /^LiteLLM has no price of any/ },
  ])("$name", ({ given, why }) => {
    expect(() => make(given)).toThrow(why);
  });
});
