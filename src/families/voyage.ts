/** Voyage: rankings and vectors, billed by tokens. */
import { chatFamily } from "./chat-family.js";

export const voyage = chatFamily({
  name: "voyage",
  answers: "fitted",
  keyVariable: "VOYAGE_API_KEY",
  baseUrl: "https://api.voyageai.com/v1",
  abortStopsBilling: false,
  pricedAs: undefined,
  modelsPath: undefined,
  rerank: { path: "/rerank", dialect: { limit: "top_k", textsOnly: true } },
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    customTools: false,
    allowedTools: false,
  },
});
