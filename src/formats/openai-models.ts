/** The models as OpenAI's clients read them, with what they can, take and cost beside what those clients know. */
import { enumWord } from "../api/descriptors.js";
import type { ListModelsResponse, Model } from "../api/index.js";
import { codexCatalogue } from "./codex-catalogue.js";
import type { FormatModels, FormatRequest } from "./format.js";
import { shownCapabilities, shownPrice } from "./model-facts.js";

/** What everybody reads at `/v1/models` whom no other format recognises. */
export const openaiModels: FormatModels = {
  paths: [],
  page: () => ({ pageSize: 0, pageToken: "" }),
  list: openAiModelList,
  model: openAiModel,
};

function openAiModelList({ models }: ListModelsResponse, { query }: FormatRequest): object {
  // Codex alone names its version.
  if ("client_version" in query) return codexCatalogue(models);
  return { object: "list", data: models.map(openAiModel) };
}

/** One model. What nobody knows is null. */
function openAiModel(model: Model): object {
  const { id, aliasOf, owner, kind, contextTokens, outputTokensMax, capabilities, price, retireTime } = model;
  const created = model.createTime ?? new Date(0);
  return {
    id,
    object: "model",
    created: Math.floor(created.getTime() / 1000),
    owned_by: owner,
    // Only an alias has it.
    alias_of: aliasOf === "" ? undefined : aliasOf,
    kind: kind === undefined ? null : enumWord("tollgate.v1.ModelKind", kind),
    context_tokens: contextTokens === 0n ? null : Number(contextTokens),
    output_tokens_max: outputTokensMax === 0n ? null : Number(outputTokensMax),
    capabilities: shownCapabilities(capabilities),
    price: shownPrice(price),
    shutdown_date: retireTime?.toISOString().slice(0, 10),
  };
}
