/** A model family made up for tests: all that a new family takes is one file like this one. */
import type { Family } from "../../src/families/family.js";
import { readModelList } from "../../src/families/model-list.js";
import { wire } from "../../src/wire/openai-chat/index.js";

/** It differs where families differ: the key's header, a path for each model, the dialect, and billing on abort. */
export const toy: Family = {
  name: "toy",
  wire,
  dialect: { outputTokensField: "max_tokens", developerRole: false },
  keyVariable: "TOY_API_KEY",
  baseUrl: "https://toy.invalid/v1",
  needsKey: true,
  abortStopsBilling: false,
  pricedAs: undefined,
  countsLikeOurs: false,
  generatePath: (model, stream) =>
    `/toys/${encodeURIComponent(model)}/${stream ? "stream" : "answer"}/chat/completions`,
  headers: (apiKey) => ({ "content-type": "application/json", "x-toy-key": apiKey ?? "" }),
  modelsPath: "/models",
  readModels: readModelList,
  connect: undefined,
  builtInModels: [],
};
