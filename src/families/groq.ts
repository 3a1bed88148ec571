/** Groq. Source of what it refuses: console.groq.com/docs/openai. */
import { chatFamily } from "./chat-family.js";

export const groq = chatFamily({
  name: "groq",
  // A whole answer that calls a tool comes without its content.
  answers: "fitted",
  keyVariable: "GROQ_API_KEY",
  baseUrl: "https://api.groq.com/openai/v1",
  // It is on OpenRouter's list of those that generate on, and bill, when nobody listens any more.
  abortStopsBilling: false,
  pricedAs: "groq",
  // Source: console.groq.com/docs/text-to-speech, which bills by characters.
  speaks: true,
  dialect: {
    developerRole: false,
    thinkingField: "reasoning",
    allowedTools: false,
    customTools: false,
    // Source: console.groq.com/docs/structured-outputs, which lists them; others answer 400 to a schema.
    schemaModels: ["gpt-oss", "llama-4", "kimi-k2"],
    messageNames: false,
    lacks: ["logprobs", "logit_bias", "top_logprobs", "n", "modalities", "audio"],
  },
});
