/** A model family made up for tests: where its answers are as OpenAI's, a new family takes one file like this one. */
import { chatFamily } from "../../src/families/chat-family.js";

/** It differs where families differ: the key's header, a path for each model, the dialect, and billing on abort. */
export const toy = chatFamily({
  name: "toy",
  answers: "exact",
  keyVariable: "TOY_API_KEY",
  baseUrl: "https://toy.invalid/v1",
  abortStopsBilling: false,
  pricedAs: undefined,
  keyHeader: "x-toy-key",
  generatePath: (model, stream) =>
    `/toys/${encodeURIComponent(model)}/${stream ? "stream" : "answer"}/chat/completions`,
  dialect: { outputTokensField: "max_tokens", developerRole: false, seedField: "random_seed", lacks: ["user"] },
});
