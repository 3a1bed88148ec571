/** Google's client format: models in the path, and a stream as events or as one long list. */
import { embeddingWire, PATH_MODEL_HEADER, PATH_STREAM_HEADER, wire } from "../wire/gemini/index.js";
import type { Format, FormatRequest, FormatRoute } from "./format.js";
import { geminiModels, VERSIONS } from "./gemini-models.js";
import { ListFraming } from "./list-framing.js";

/** A model's name may hold one slash, and whatever else but another. */
const NAMES = [":model([^]+)", ":owner/:model([^]+)"];
const METHODS: Readonly<Record<string, FormatRoute["kind"]>> = {
  generateContent: "generate",
  streamGenerateContent: "generate",
  countTokens: "count",
  embedContent: "embed",
  batchEmbedContents: "embed",
};

const routes = VERSIONS.flatMap((version) =>
  NAMES.flatMap((model) =>
    Object.entries(METHODS).map(([name, kind]): FormatRoute => {
      return { method: "POST", path: `/${version}/models/${model}::${name}`, kind };
    }),
  ),
);

function wireHeaders({ params, path }: FormatRequest): Readonly<Record<string, string>> {
  const { owner, model = "" } = params;
  return {
    [PATH_MODEL_HEADER]: owner === undefined ? model : `${owner}/${model}`,
    ...(isStream(path) ? { [PATH_STREAM_HEADER]: "1" } : {}),
  };
}

function isStream(path: string): boolean {
  return path.endsWith(":streamGenerateContent");
}

export const gemini: Format = {
  name: "gemini",
  wire,
  embeddingWire,
  routes,
  models: geminiModels,
  wireHeaders,
  recognises: ({ headers, query }) => "x-goog-api-key" in headers || "key" in query,
  encodeError: (error) => wire.encodeError(error),
  replyHeaders: () => ({}),
  credential: ({ headers, query }) => headers["x-goog-api-key"] || query["key"],
  encodeCount: (totalTokens) => Buffer.from(JSON.stringify({ totalTokens })),
  streamFraming: ({ path, query }) => (isStream(path) && query["alt"] !== "sse" ? new ListFraming() : undefined),
};
