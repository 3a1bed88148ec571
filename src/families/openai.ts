/** OpenAI itself. */
import { wire } from "../wire/openai-chat/index.js";
import { compaction, wire as responses } from "../wire/openai-responses/index.js";
import { wire as completions } from "../wire/openai-completions/index.js";
import { wire as embeddings } from "../wire/openai-embeddings/index.js";
import { MODERATION, speechEndpoint } from "./surface-endpoints.js";
import type { Family } from "./family.js";
import { readModelList } from "./model-list.js";

export const openai: Family = {
  name: "openai",
  answers: "exact",
  cacheMember: "prompt_cache_key",
  promptCaches: ["prompt_cache_key"],
  wire,
  dialect: {},
  keyVariable: "OPENAI_API_KEY",
  baseUrl: "https://api.openai.com/v1",
  needsKey: true,
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  pricedAs: "openai",
  tokenizerIsClose: true,
  modelKinds: [
    { startsWith: "text-embedding-", kind: "embedding" },
    { startsWith: "omni-moderation-", kind: "moderation" },
    { startsWith: "text-moderation-", kind: "moderation" },
    { startsWith: "tts-", kind: "speech" },
    { startsWith: "gpt-4o-mini-tts", kind: "speech" },
    { startsWith: "gpt-3.5-turbo-instruct", kind: "completion" },
    { startsWith: "davinci-002", kind: "completion" },
    { startsWith: "babbage-002", kind: "completion" },
  ],
  generatePath: () => "/chat/completions",
  alsoSpeaks: [
    { wire: responses, dialect: {}, cacheMember: "prompt_cache_key", generatePath: () => "/responses" },
    {
      wire: compaction,
      dialect: {},
      takesLimit: false,
      cacheMember: "prompt_cache_key",
      generatePath: () => "/responses/compact",
    },
  ],
  endpoints: {
    completion: { wire: completions, dialect: {}, generatePath: () => "/completions" },
    embedding: { wire: embeddings, dialect: {}, generatePath: () => "/embeddings" },
    moderation: MODERATION,
    speech: speechEndpoint({ reportsUsageByEvents: true }),
  },
  headers: (apiKey): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  }),
  modelsPath: "/models",
  readModels: readModelList,
  connect: undefined,
  builtInModels: [],
};
