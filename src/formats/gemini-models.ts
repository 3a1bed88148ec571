/** The models as Google's clients read them: named by their path, with what may be asked of each. */
import { type ListModelsResponse, type Model, ModelKind } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { FormatModels, FormatRequest } from "./format.js";
import { shownCapabilities, shownPrice } from "./model-facts.js";

/** Of Google's API. Its SDKs speak `v1` from their third major version on, and `v1beta` before. */
export const VERSIONS = ["v1beta", "v1", "v1alpha"] as const;
/** The list under this version stands where the clients of other formats look for theirs. */
const SHARED_VERSION = "v1";

/** Google answers with no more, whatever is asked. */
const PAGE_SIZE_MAX = 1_000;
/** What the gateway serves of each kind of model under this format. */
const METHODS: ReadonlyMap<ModelKind, readonly string[]> = new Map([
  [ModelKind.MODEL_KIND_EMBEDDING, ["embedContent", "batchEmbedContents"]],
  [ModelKind.MODEL_KIND_COMPLETION, []],
  [ModelKind.MODEL_KIND_RERANK, []],
  [ModelKind.MODEL_KIND_MODERATION, []],
  [ModelKind.MODEL_KIND_SPEECH, []],
]);
const METHODS_OF_CHATS = ["generateContent", "countTokens"];

export const geminiModels: FormatModels = {
  paths: VERSIONS.filter((version) => version !== SHARED_VERSION).map((version) => `/${version}/models`),
  page,
  list: ({ models, nextPageToken }: ListModelsResponse) => ({
    models: models.map(describe),
    ...(nextPageToken === "" ? {} : { nextPageToken }),
  }),
  model: describe,
};

function page({ query }: FormatRequest): { readonly pageSize: number; readonly pageToken: string } {
  const { pageSize = "0", pageToken = "" } = query;
  if (!/^\d{1,9}$/.test(pageSize)) {
    const problem = "it must be a whole number";
    throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "pageSize", problem });
  }
  return { pageSize: Math.min(Number(pageSize), PAGE_SIZE_MAX), pageToken };
}

/** Limits that nobody knows are left out. */
function describe(model: Model): object {
  const { id, displayName, kind, contextTokens, outputTokensMax, capabilities, price, retireTime } = model;
  return {
    name: `models/${id}`,
    displayName: displayName || id,
    inputTokenLimit: contextTokens === 0n ? undefined : Number(contextTokens),
    outputTokenLimit: outputTokensMax === 0n ? undefined : Number(outputTokensMax),
    supportedGenerationMethods: (kind && METHODS.get(kind)) ?? METHODS_OF_CHATS,
    thinking: capabilities?.thinking,
    capabilities: shownCapabilities(capabilities),
    price: shownPrice(price),
    retireTime: retireTime?.toISOString(),
  };
}
