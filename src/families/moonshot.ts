/** Moonshot's Kimi, whose thoughts must come back while it works with tools. Source: platform.kimi.ai/docs. */
import { chatFamily } from "./chat-family.js";

export const moonshot = chatFamily({
  name: "moonshot",
  keyVariable: "MOONSHOT_API_KEY",
  baseUrl: "https://api.moonshot.ai/v1",
  // Nobody says whether it stops, so an answer is read to its end, and what it says it used is what is charged.
  abortStopsBilling: false,
  pricedAs: "moonshotai",
  dialect: {
    developerRole: false,
    thinkingField: "reasoning_content",
    thinkingRequired: true,
    thinkingControl: "thinking",
    allowedTools: false,
    customTools: false,
    lacks: ["logit_bias", "logprobs", "top_logprobs", "verbosity", "service_tier", "store", "modalities", "audio"],
  },
});
