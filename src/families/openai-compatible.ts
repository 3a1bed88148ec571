/**
 * Whatever else speaks OpenAI's chat completions at an address of its own: Ollama, vLLM, llama.cpp, hosted services.
 */
import { wire } from "../wire/openai-chat/index.js";
import { wire as completions } from "../wire/openai-completions/index.js";
import { wire as embeddings } from "../wire/openai-embeddings/index.js";
import type { OpenAiChatDialect } from "../wire/openai-chat/index.js";
import { MODERATION, rerankEndpoint, speechEndpoint } from "./surface-endpoints.js";
import type { Family } from "./family.js";
import { readModelList } from "./model-list.js";

/** The older names and roles, which all of them know, where OpenAI's newer ones are refused by some, or not heeded. */
const dialect: Partial<OpenAiChatDialect> = {
  keepsBodies: true,
  outputTokensField: "max_tokens",
  streamUsage: true,
  // transformers streams where nobody says otherwise.
  saysWhole: true,
  developerRole: false,
  // Whose files lie behind it nobody knows.
  keptSchemes: ["fileid", "ms", "oss"],
};

export const openaiCompatible: Family = {
  name: "openai-compatible",
  // Whoever answers there: Snowflake sends empty calls beside the real one, and Google leaves out their numbers.
  answers: "fitted",
  // Some servers refuse members that they do not know, so only settings say which one this server has.
  promptCaches: ["cache_salt", "prompt_cache_key", "prompt_cache_isolation_key", "off"],
  wire,
  dialect,
  keyVariable: undefined,
  baseUrl: undefined,
  needsKey: false,
  // Most of these run on one's own machines, where to read on an answer that nobody wants keeps a GPU busy for nothing.
  abortStopsBilling: true,
  isSelfHosted: true,
  pricedAs: undefined,
  tokenizerIsClose: false,
  generatePath: () => "/chat/completions",
  endpoints: {
    completion: { wire: completions, dialect: { saysWhole: true }, generatePath: () => "/completions" },
    embedding: { wire: embeddings, dialect: {}, generatePath: () => "/embeddings" },
    // Resellers of Cohere's models bill search units, and most servers tokens: the price says which.
    rerank: rerankEndpoint({ path: "/rerank", units: ["token", "search_unit"] }),
    moderation: MODERATION,
    speech: speechEndpoint(),
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
