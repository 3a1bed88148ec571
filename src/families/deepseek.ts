/** DeepSeek. Sources: api-docs.deepseek.com (guides/thinking_mode), and its refusals as issue threads quote them. */
import { chatFamily } from "./chat-family.js";

export const deepseek = chatFamily({
  name: "deepseek",
  // What it adds stands in members of its own, as its recorded answers show.
  answers: "exact",
  // Source: api-docs.deepseek.com/quick_start/rate_limit, which says that it isolates the cache.
  cacheMember: "user_id",
  promptCaches: ["user_id"],
  members: { owned: ["user_id"] },
  keyVariable: "DEEPSEEK_API_KEY",
  baseUrl: "https://api.deepseek.com",
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  pricedAs: "deepseek",
  // Its page of error codes says of 402 that the account has run out of balance, and gives no other cause.
  refusals: [{ status: 402, kind: "no_funds" }],
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    // From V4 on, a turn of the assistant's without it is refused once the model thinks; empty where none is known.
    thinkingField: "reasoning_content",
    thinkingRequired: true,
    thinkingControl: "thinking",
    // Source: api-docs.deepseek.com/guides/json_mode: it knows json_object, which wants the word JSON in the prompt.
    schemas: false,
    forcedWhileThinking: false,
    allowedTools: false,
    customTools: false,
    lacks: ["n", "logit_bias", "verbosity", "service_tier", "store", "prediction", "modalities", "audio"],
  },
});
