/** What the gateway does with the members of a Converse request: a typed request can bring some of its own. */
import { memberTable } from "../../request/members.js";

const OPERATORS = "it is for whoever runs the upstream";
const LIMIT = "the limit of the output is the request's own";

export const MEMBERS = memberTable({
  owned: ["messages", "system", "toolConfig", "additionalModelResponseFieldPaths", "outputConfig"],
  plain: ["requestMetadata", "promptVariables"],
  tiers: { serviceTier: [] },
  refused: { performanceConfig: OPERATORS, guardrailConfig: OPERATORS, modelId: OPERATORS },
  objects: {
    inferenceConfig: { owned: ["maxTokens"], plain: ["temperature", "topP", "stopSequences"] },
    additionalModelRequestFields: {
      plain: ["thinking", "top_k", "anthropic_beta"],
      refused: Object.fromEntries(
        ["max_tokens", "maxTokens", "max_gen_len", "max_new_tokens", "max_completion_tokens", "maxTokenCount"].map(
          (name) => [name, LIMIT],
        ),
      ),
    },
  },
});
