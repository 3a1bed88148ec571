/** What public lists of prices say, each in its own form and units, as components in USD per million tokens. Pure. */
import type { ModelInfo, Provider } from "@pydantic/genai-prices";
import { z } from "zod";
import { tierName } from "./components.js";
import { LISTED_MODEL } from "./snapshot.js";

/** By component. */
export type SourcePrices = Readonly<Record<string, number>>;

/** What a list says of the models of one provider, by their names there. */
export type SourceModels = ReadonlyMap<string, SourcePrices>;

/** How lists call a provider, by its id in genai-prices. What no other list has cannot be checked, and is left out. */
const PROVIDERS: Readonly<Record<string, { readonly modelsDev: string; readonly liteLlm: readonly string[] }>> = {
  anthropic: { modelsDev: "anthropic", liteLlm: ["anthropic"] },
  aws: { modelsDev: "amazon-bedrock", liteLlm: ["bedrock", "bedrock_converse"] },
  azure: { modelsDev: "azure", liteLlm: ["azure"] },
  cohere: { modelsDev: "cohere", liteLlm: ["cohere", "cohere_chat"] },
  deepseek: { modelsDev: "deepseek", liteLlm: ["deepseek"] },
  google: { modelsDev: "google", liteLlm: ["gemini"] },
  groq: { modelsDev: "groq", liteLlm: ["groq"] },
  mistral: { modelsDev: "mistral", liteLlm: ["mistral"] },
  moonshotai: { modelsDev: "moonshotai", liteLlm: ["moonshot"] },
  openai: { modelsDev: "openai", liteLlm: ["openai"] },
  openrouter: { modelsDev: "openrouter", liteLlm: ["openrouter"] },
  "x-ai": { modelsDev: "xai", liteLlm: ["xai"] },
};

const LISTED = z.array(z.looseObject({ id: z.string(), models: z.array(z.unknown()) }));

/** The models of genai-prices, version 2. Throws where the list, or a model that would be taken, is malformed. */
export function readGenaiPrices(text: string): ReadonlyMap<string, readonly ModelInfo[]> {
  const listed = LISTED.parse(JSON.parse(text)).filter(({ id }) => Object.hasOwn(PROVIDERS, id));
  if (listed.length === 0) throw new Error("it has none of the providers that are compared");
  return new Map(listed.map(({ id, models }) => [id, models.map((model) => LISTED_MODEL.parse(model))]));
}

const MODELS_DEV_NAMES: Readonly<Record<string, string>> = {
  input: "input_mtok",
  output: "output_mtok",
  cache_read: "cache_read_mtok",
  cache_write: "cache_write_mtok",
  reasoning: "output_reasoning_mtok",
  input_audio: "input_audio_mtok",
  output_audio: "output_audio_mtok",
};
const MODELS_DEV_TIER = z.object({ tier: z.object({ type: z.literal("context"), size: z.number() }) });
const MODELS_DEV = z.record(
  z.string(),
  z.looseObject({
    models: z.record(z.string(), z.looseObject({ cost: z.record(z.string(), z.unknown()).optional() })),
  }),
);
const LONG_CONTEXT = 200_000;

/** The `api.json` of models.dev, in USD per million tokens. */
export function readModelsDev(text: string): ReadonlyMap<string, SourceModels> {
  const listed = MODELS_DEV.parse(JSON.parse(text));
  return byProvider(({ modelsDev }) =>
    Object.entries(listed[modelsDev]?.models ?? {}).map(([name, { cost = {} }]) => [name, costOf(cost)]),
  );
}

function costOf(cost: Readonly<Record<string, unknown>>): SourcePrices {
  const prices = named(cost, (name) => MODELS_DEV_NAMES[name]);
  const tiers = Array.isArray(cost["tiers"]) ? cost["tiers"] : [];
  const long = tiers.length === 0 ? cost["context_over_200k"] : undefined;
  for (const tier of tiers) {
    const { success, data } = MODELS_DEV_TIER.safeParse(tier);
    if (success) Object.assign(prices, tierOf(tier, data.tier.size));
  }
  return long === undefined ? prices : { ...prices, ...tierOf(long, LONG_CONTEXT) };
}

function tierOf(rates: unknown, start: number): SourcePrices {
  if (typeof rates !== "object" || rates === null) return {};
  return named(rates, (name) => {
    const component = MODELS_DEV_NAMES[name];
    return component && tierName(component, start);
  });
}

const LITELLM_NAMES: Readonly<Record<string, string>> = {
  input_cost_per_token: "input_mtok",
  output_cost_per_token: "output_mtok",
  cache_read_input_token_cost: "cache_read_mtok",
  cache_creation_input_token_cost: "cache_write_mtok",
  cache_creation_input_token_cost_above_1hr: "cache_write_1h_mtok",
  output_cost_per_reasoning_token: "output_reasoning_mtok",
  input_cost_per_audio_token: "input_audio_mtok",
  output_cost_per_audio_token: "output_audio_mtok",
};
const LITELLM = z.record(z.string(), z.looseObject({ litellm_provider: z.string().optional() }));
const PER_MILLION = 1e6;
const ABOVE = /^(.*?)(?:_above_(\d+)k_tokens)?$/;

/** LiteLLM's `model_prices_and_context_window.json`, in USD per token. */
export function readLiteLlm(text: string): ReadonlyMap<string, SourceModels> {
  const listed = Object.entries(LITELLM.parse(JSON.parse(text)));
  return byProvider(({ liteLlm }) =>
    listed.flatMap(([name, model]) => {
      const { litellm_provider: provider = "" } = model;
      if (!liteLlm.includes(provider)) return [];
      return [[name.replace(`${provider}/`, ""), named(model, liteLlmName, PER_MILLION)] as const];
    }),
  );
}

function liteLlmName(name: string): string | undefined {
  const [, base = "", thousands] = ABOVE.exec(name) ?? [];
  const component = LITELLM_NAMES[base];
  return component === undefined || thousands === undefined
    ? component
    : tierName(component, Number(thousands) * 1_000);
}

function byProvider(
  read: (names: (typeof PROVIDERS)[string]) => readonly (readonly [string, SourcePrices])[],
): ReadonlyMap<string, SourceModels> {
  return new Map(Object.entries(PROVIDERS).map(([id, names]) => [id, new Map(read(names))]));
}

/** Zero is how lists write a price that they do not know. Nothing that is no number is a price. */
function named(said: object, nameOf: (name: string) => string | undefined, factor = 1): Record<string, number> {
  const prices: Record<string, number> = {};
  for (const [name, value] of Object.entries(said)) {
    const component = nameOf(name);
    if (component === undefined || typeof value !== "number" || !Number.isFinite(value) || value <= 0) continue;
    // What a float adds of its own is no part of a price.
    prices[component] = Number((value * factor).toPrecision(12));
  }
  // Output that reasons costs what other output does, unless a list says otherwise.
  if (prices["output_reasoning_mtok"] === prices["output_mtok"]) delete prices["output_reasoning_mtok"];
  return prices;
}

/** What a list says of each model of a provider: of several names of one model, its own name counts first. */
export function matched(
  provider: Provider,
  models: SourceModels,
  find: (provider: Provider, name: string) => ModelInfo | undefined,
): SourceModels {
  const found = new Map<string, SourcePrices>();
  for (const [name, prices] of models) {
    const model = find(provider, name);
    if (model === undefined || Object.keys(prices).length === 0) continue;
    if (!found.has(model.id) || name === model.id) found.set(model.id, prices);
  }
  return found;
}
