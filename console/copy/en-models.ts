/** The sentences of the page of models in English. */
import { many } from "./en.ts";

export const modelWords = {
  about: "The models that you can use. Prices are in USD per million tokens.",
  find: "Find a model",
  name: "Model",
  can: "Supports",
  context: "Context",
  outputMax: "Max. output",
  input: "Input price",
  cached: "Cached price",
  output: "Output price",
  free: "free",
  unknown: "–",
  abilities: { images: "images", tools: "tools", schemas: "schema", thinking: "reasoning" },
  kinds: { unspecified: "", chat: "", completion: "completion", embedding: "embeddings" },
  retires: (day: string) => `retires ${day}`,
  actions: "Actions",
  tryIt: "Try it",
  copyId: "the model’s id",
  emptyTitle: "No models are available",
  emptyAbout: "An operator must add upstreams and models to tollgate.yaml.",
  noneFound: "No model matches.",
  perRequest: (money: string) => `+ ${money} per 1,000 requests`,
  tiers: "higher price for long inputs",
  shown: (count: number) => many(count, "model", "models"),
} as const;
