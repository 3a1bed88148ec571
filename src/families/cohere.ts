/** Cohere: rankings at its own address, and chats and vectors in OpenAI's wire beside it. */
import { chatFamily } from "./chat-family.js";

export const cohere = chatFamily({
  name: "cohere",
  answers: "fitted",
  keyVariable: "COHERE_API_KEY",
  baseUrl: "https://api.cohere.com",
  abortStopsBilling: false,
  telemetryName: "cohere",
  pricedAs: "cohere",
  generatePath: () => "/compatibility/v1/chat/completions",
  // Its list has another form: the settings name its models.
  modelsPath: undefined,
  rerank: {
    path: "/v2/rerank",
    dialect: { textsOnly: true, tellsDocuments: false },
    units: ["search_unit"],
  },
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    topK: false,
    allowedTools: false,
    customTools: false,
    lacks: [
      "logit_bias",
      "store",
      "service_tier",
      "verbosity",
      "user",
      "safety_identifier",
      "modalities",
      "audio",
      "web_search_options",
    ],
  },
});
