/** A local stand-in for a model: no network, no charge, the same answer to the same request. See `steering.ts`. */
import { wire } from "../../wire/openai-chat/index.js";
import { wire as embeddings } from "../../wire/openai-embeddings/index.js";
import { MODERATION, rerankEndpoint, speechEndpoint } from "../surface-endpoints.js";
import type { Family } from "../family.js";
import { readModelList } from "../model-list.js";
import { SIM_MODELS } from "./models.js";
import { createSimUpstream } from "./upstream.js";

export const sim: Family = {
  name: "sim",
  answers: "exact",
  wire,
  dialect: {},
  keyVariable: undefined,
  baseUrl: undefined,
  needsKey: false,
  abortStopsBilling: true,
  pricedAs: undefined,
  tokenizerIsClose: false,
  generatePath: () => "/chat/completions",
  endpoints: {
    embedding: { wire: embeddings, dialect: {}, generatePath: () => "/embeddings" },
    rerank: rerankEndpoint({ path: "/rerank" }),
    moderation: MODERATION,
    speech: speechEndpoint({ reportsUsageByEvents: true }),
  },
  headers: () => ({ "content-type": "application/json" }),
  modelsPath: "/models",
  readModels: readModelList,
  connect: () => createSimUpstream({ nowMs: Date.now }),
  builtInModels: SIM_MODELS,
};
