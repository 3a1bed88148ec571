/** The models as Anthropic's clients read them. */
import type { ListModelsResponse, Model, ModelCapabilities } from "../api/index.js";
import type { FormatModels } from "./format.js";
import { shownPrice } from "./model-facts.js";

export const anthropicModels: FormatModels = {
  paths: [],
  page: () => ({ pageSize: 0, pageToken: "" }),
  list: ({ models }: ListModelsResponse) => ({
    data: models.map(anthropicModel),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  }),
  model: anthropicModel,
};

/** One model. What nobody knows is null; of its capabilities, all where nothing of them is known. */
function anthropicModel(model: Model): object {
  const { id, displayName, contextTokens, outputTokensMax, capabilities, retireTime } = model;
  return {
    type: "model",
    id,
    display_name: displayName || id,
    created_at: (model.createTime ?? new Date(0)).toISOString(),
    lifecycle: "active",
    line: LINES.find((line) => id.startsWith("claude-") && id.includes(line)) ?? null,
    max_input_tokens: contextTokens === 0n ? null : Number(contextTokens),
    max_tokens: outputTokensMax === 0n ? null : Number(outputTokensMax),
    capabilities: capabilities === undefined ? null : anthropicCapabilities(capabilities),
    deprecated_at: null,
    retires_at: retireTime?.toISOString() ?? null,
    price: shownPrice(model.price),
  };
}

const LINES = ["haiku", "sonnet", "opus", "fable", "mythos"];

/** Services around the model, such as batches, are the gateway's, which has none of them. */
function anthropicCapabilities({ images, schemas, thinking, efforts }: ModelCapabilities): object {
  const support = (supported: boolean | undefined): object => ({ supported: supported ?? false });
  const none = support(false);
  const thinks = support(thinking);
  return {
    batch: none,
    citations: none,
    code_execution: none,
    context_management: {
      supported: false,
      clear_thinking_20251015: null,
      clear_tool_uses_20250919: null,
      compact_20260112: null,
    },
    effort: {
      supported: efforts.length > 0,
      low: support(efforts.includes("low")),
      medium: support(efforts.includes("medium")),
      high: support(efforts.includes("high")),
      xhigh: support(efforts.includes("xhigh")),
      max: support(efforts.includes("max")),
    },
    image_input: support(images),
    pdf_input: support(images),
    server_tools: { supported: false, code_execution: none, web_search: none },
    structured_outputs: support(schemas),
    thinking: {
      supported: thinking ?? false,
      types: { adaptive: thinks, enabled: thinks, disabled: support(true), between_tools: none },
    },
  };
}
