/** Moonshot's Kimi, whose thoughts must come back while it works with tools. Source: platform.kimi.ai/docs. */
import { chatFamily } from "./chat-family.js";

export const moonshot = chatFamily({
  name: "moonshot",
  answers: "fitted",
  keyVariable: "MOONSHOT_API_KEY",
  baseUrl: "https://api.moonshot.ai/v1",
  // Nobody says whether it stops, so an answer is read to its end, and what it says it used is what is charged.
  abortStopsBilling: false,
  pricedAs: "moonshotai",
  refusals: [
    { code: "exceeded_current_quota_error", kind: "no_funds" },
    { code: "invalid_authentication_error", kind: "credential" },
    { status: 404, code: "resource_not_found_error", kind: "model" },
  ],
  dialect: {
    developerRole: false,
    thinkingField: "reasoning_content",
    thinkingRequired: true,
    thinkingControl: "thinking",
    allowedTools: false,
    customTools: false,
    // Its guide to JSON mode tells of json_object alone, but clients send it schemas, and no refusal is reported.
    keptSchemes: ["ms"],
    lacks: ["logit_bias", "logprobs", "top_logprobs", "verbosity", "service_tier", "store", "modalities", "audio"],
  },
});
