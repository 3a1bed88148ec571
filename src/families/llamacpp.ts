/** llama.cpp's server. It has no address of its own here: its usual port is the gateway's. */
import { chatFamily } from "./chat-family.js";
import { LLAMACPP_REPORTS } from "./server-reports.js";

export const llamacpp = chatFamily({
  name: "llamacpp",
  answers: "fitted",
  // It has no salt: a slot's prompt is any client's.
  promptCaches: ["off"],
  keyVariable: undefined,
  baseUrl: undefined,
  needsKey: false,
  // On one's own machine, to read on an answer that nobody wants keeps it busy for nothing.
  abortStopsBilling: true,
  isSelfHosted: true,
  reports: LLAMACPP_REPORTS,
  pricedAs: undefined,
  rerank: { path: "/rerank", dialect: { textsOnly: true, tellsDocuments: false } },
  // It serves one model, and names the file of that.
  namesAnswersItself: true,
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    thinkingField: "reasoning_content",
    thinkingControl: "chat_template_kwargs",
    thinkingTolerant: true,
    topK: true,
    allowedTools: false,
    customTools: false,
    lacks: ["modalities", "audio"],
  },
});
