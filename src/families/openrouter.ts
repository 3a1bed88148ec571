/** OpenRouter, which hands a request on to one of many upstreams. Source: openrouter.ai/docs. */
import { chatFamily } from "./chat-family.js";

export const openrouter = chatFamily({
  name: "openrouter",
  answers: "fitted",
  keyVariable: "OPENROUTER_API_KEY",
  baseUrl: "https://openrouter.ai/api/v1",
  // Only some of those behind it stop (not Bedrock, Groq, Google or Mistral), and nobody knows before which answers.
  abortStopsBilling: false,
  pricedAs: "openrouter",
  // Of 403 its page of errors knows one cause: the input was flagged. A 402 may be about the size of one request.
  refusals: [{ status: 403, kind: "request" }],
  dialect: {
    outputTokensField: "max_tokens",
    developerRole: false,
    thinkingField: "reasoning_details",
    thinkingControl: "reasoning",
    // It hands it on only to who understands it.
    thinkingTolerant: true,
    fitsModels: true,
    topK: true,
    // For Claude and Gemini, and left alone for others: openrouter.ai/docs, prompt caching.
    cacheMark: "cache_control",
    allowedTools: false,
    customTools: false,
    keptSchemes: ["fileid", "ms", "oss"],
    sessionIds: true,
  },
});
