/** The sentences of the page of models in English. */
import { many } from "./en.ts";

export const modelWords = {
  about: "The models that you may ask for here. Prices are USD per million tokens.",
  find: "Find a model",
  name: "Model",
  can: "Can",
  context: "Context",
  outputMax: "Most output",
  input: "Input price",
  cached: "Cached price",
  output: "Output price",
  free: "free",
  unknown: "–",
  abilities: { images: "images", tools: "tools", schemas: "schema", thinking: "reasoning" },
  kinds: { unspecified: "", chat: "", completion: "completion", embedding: "embeddings" },
  retires: (day: string) => `until ${day}`,
  actions: "Actions",
  tryIt: "Try it",
  copyId: "the model’s id",
  emptyTitle: "No models are served",
  emptyAbout: "An operator names upstreams and models in tollgate.yaml.",
  noneFound: "No model matches.",
  perRequest: (money: string) => `+ ${money} a thousand requests`,
  tiers: "dearer for long inputs",
  shown: (count: number) => many(count, "model", "models"),
} as const;
