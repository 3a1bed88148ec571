/** Ollama on this machine, which needs no key. */
import { chatFamily } from "./chat-family.js";
import { OLLAMA_REPORTS } from "./server-reports.js";

export const ollama = chatFamily({
  name: "ollama",
  answers: "fitted",
  keyVariable: undefined,
  baseUrl: "http://127.0.0.1:11434/v1",
  needsKey: false,
  // On one's own machine, to read on an answer that nobody wants keeps it busy for nothing.
  abortStopsBilling: true,
  isSelfHosted: true,
  reports: OLLAMA_REPORTS,
  pricedAs: undefined,
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    thinkingField: "reasoning",
    allowedTools: false,
    customTools: false,
    lacks: ["n", "logit_bias", "modalities", "audio"],
  },
});
