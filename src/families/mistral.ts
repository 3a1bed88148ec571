/** Mistral, which refuses every member that it does not know (422 `extra_forbidden`). */
import { chatFamily } from "./chat-family.js";

export const mistral = chatFamily({
  name: "mistral",
  // Calls come without their number, and a thought and a text as a list of pieces.
  answers: "fitted",
  // Where a request has none, nothing is cached: docs.mistral.ai, prompt-caching.
  promptCaches: ["prompt_cache_key"],
  keyVariable: "MISTRAL_API_KEY",
  baseUrl: "https://api.mistral.ai/v1",
  // It is on OpenRouter's list of those that generate on, and bill, when nobody listens any more.
  abortStopsBilling: false,
  telemetryName: "mistral_ai",
  pricedAs: "mistral",
  moderates: true,
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    // The last chunk brings the usage unasked, and the option that asks is refused.
    streamUsage: false,
    developerRole: false,
    seedField: "random_seed",
    requiredChoice: "any",
    allowedTools: false,
    customTools: false,
    shortCallIds: true,
    documentUrls: true,
    messageNames: false,
    // Its refusals say "Unexpected role 'user' after role 'tool'" and "Expected last role User or Tool"; the rest is of
    // its own library mistral-common (validator.py), of which every version takes what these rows leave.
    roleOrder: {
      system: ["system", "user", "assistant"],
      user: ["system", "user", "assistant", "end"],
      assistant: ["assistant", "user", "tool", "end"],
      tool: ["assistant", "tool", "end"],
    },
    // An old call of a function stays, so that it is refused and not lost.
    messageMembers: ["role", "content", "tool_calls", "tool_call_id", "name", "prefix", "function_call"],
    prefillField: "prefix",
    lacks: [
      "logit_bias",
      "logprobs",
      "top_logprobs",
      "user",
      "safety_identifier",
      "store",
      "service_tier",
      "verbosity",
      "stream_options",
      "modalities",
      "audio",
      "moderation",
      "web_search_options",
      "cache_control",
      "prompt_cache_options",
      "prompt_cache_retention",
      "reasoning_content",
    ],
  },
});
