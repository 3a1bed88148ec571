/** Jina: rankings and vectors, billed by tokens. */
import { chatFamily } from "./chat-family.js";

export const jina = chatFamily({
  name: "jina",
  answers: "fitted",
  keyVariable: "JINA_API_KEY",
  baseUrl: "https://api.jina.ai/v1",
  abortStopsBilling: false,
  pricedAs: undefined,
  modelsPath: undefined,
  rerank: { path: "/rerank" },
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    customTools: false,
    allowedTools: false,
  },
});
