/**
 * Qwen, at the international address of Alibaba's Model Studio; the others are a `base_url` of the settings. Sources:
 * alibabacloud.com/help/en/model-studio/deep-thinking and long-context-qwen-long (files in system messages),
 * docs.qwencloud.com (QwQ and QVQ answer as streams alone).
 */
import { rowsOf } from "../wire/error/upstream-refusal.js";
import { chatFamily } from "./chat-family.js";

export const qwen = chatFamily({
  name: "qwen",
  answers: "fitted",
  keyVariable: "DASHSCOPE_API_KEY",
  baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  // Nobody says whether it stops, so an answer is read to its end, and what it says it used is what is charged.
  abortStopsBilling: false,
  // The package of prices does not know it, so the settings say what its models cost.
  pricedAs: undefined,
  refusals: [
    { code: "Arrearage", kind: "no_funds" },
    { code: "InvalidApiKey", kind: "credential" },
    ...rowsOf("access", ["AccessDenied.Unpurchased", "Model.AccessDenied", "AllocationQuota.FreeTierOnly"], 403),
    { status: 404, code: "ModelNotFound", kind: "model" },
  ],
  dialect: {
    outputTokensField: "max_tokens",
    newLimit: false,
    developerRole: false,
    thinkingField: "reasoning_content",
    thinkingControl: "enable_thinking",
    topK: true,
    allowedTools: false,
    customTools: false,
    // Source: alibabacloud.com/help/en/model-studio/qwen-structured-output; the other models know json_object alone.
    schemaModels: ["qwen3-max", "qwen-plus", "qwen-flash", "deepseek-v3.2"],
    keptSchemes: ["fileid", "oss"],
    lacks: ["logit_bias", "verbosity", "service_tier", "store", "prediction"],
  },
});
