/**
 * Endpoints that speak OpenAI's responses alone, and models of OpenAI's own that are served nowhere else: clients of
 * every format reach them in that wire. The family openai speaks it only to clients whose own it is.
 */
import { wire } from "../wire/openai-responses/index.js";
import type { Family } from "./family.js";
import { readModelList } from "./model-list.js";

export const openaiResponses: Family = {
  name: "openai-responses",
  answers: "exact",
  cacheMember: "prompt_cache_key",
  promptCaches: ["prompt_cache_key"],
  wire,
  dialect: {},
  // The family openai is what a key in the environment serves.
  keyVariable: undefined,
  baseUrl: "https://api.openai.com/v1",
  needsKey: false,
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  telemetryName: "openai",
  pricedAs: "openai",
  tokenizerIsClose: true,
  generatePath: () => "/responses",
  headers: (apiKey): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  }),
  modelsPath: "/models",
  readModels: readModelList,
  connect: undefined,
  builtInModels: [],
};
