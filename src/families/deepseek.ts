/** DeepSeek. Sources: api-docs.deepseek.com (guides/thinking_mode), and its refusals as issue threads quote them. */
import { chatFamily } from "./chat-family.js";

export const deepseek = chatFamily({
  name: "deepseek",
  keyVariable: "DEEPSEEK_API_KEY",
  baseUrl: "https://api.deepseek.com",
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  pricedAs: "deepseek",
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    // From V4 on, a turn of the assistant's without it is refused once the model thinks; empty where none is known.
    thinkingField: "reasoning_content",
    thinkingRequired: true,
    thinkingControl: "thinking",
    allowedTools: false,
    customTools: false,
    lacks: ["n", "logit_bias", "verbosity", "service_tier", "store", "prediction", "modalities", "audio"],
  },
});
