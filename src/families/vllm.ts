/** vLLM at its usual address. */
import { chatFamily } from "./chat-family.js";
import { VLLM_REPORTS } from "./server-reports.js";

export const vllm = chatFamily({
  name: "vllm",
  answers: "fitted",
  // SGLang knows it too. Source: docs.vllm.ai, design/prefix_caching.
  cacheMember: "cache_salt",
  cacheMemberBeside: "cache_salt",
  promptCaches: ["cache_salt"],
  keyVariable: undefined,
  baseUrl: "http://127.0.0.1:8000/v1",
  needsKey: false,
  // On one's own machines, to read on an answer that nobody wants keeps a GPU busy for nothing.
  abortStopsBilling: true,
  isSelfHosted: true,
  reports: VLLM_REPORTS,
  pricedAs: undefined,
  rerank: { path: "/rerank" },
  dialect: {
    outputTokensField: "max_tokens",
    developerRole: false,
    thinkingField: "reasoning",
    thinkingControl: "chat_template_kwargs",
    // A template that knows no such word passes over it.
    thinkingTolerant: true,
    topK: true,
    allowedTools: false,
    customTools: false,
    lacks: ["modalities", "audio"],
  },
});
