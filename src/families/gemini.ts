/** Google's Gemini API. */
import { z } from "zod";
import { countRequest, embeddingWire, readCount, wire } from "../wire/gemini/index.js";
import type { Family, ListedModel } from "./family.js";

const LISTED_MAX = 10_000;

const modelListSchema = z.object({
  models: z
    .array(
      z.object({
        name: z.string().min(1).max(256),
        supportedGenerationMethods: z.array(z.string()).nullish().catch(undefined),
      }),
    )
    .max(LISTED_MAX),
});

/**
 * Reads `{"models": [{"name", "supportedGenerationMethods"}]}`: those that generate, or make vectors. Throws where it
 * is no list.
 */
function readModels(body: Buffer): readonly ListedModel[] {
  return modelListSchema
    .parse(JSON.parse(body.toString("utf8")))
    .models.flatMap(({ name, ...model }): ListedModel[] => {
      const methods = model.supportedGenerationMethods ?? ["generateContent"];
      const listed = { id: name.replace(/^models\//, ""), owner: "google", createdSeconds: undefined };
      if (methods.includes("generateContent")) return [{ ...listed, kind: "chat" }];
      return methods.includes("embedContent") ? [{ ...listed, kind: "embedding" }] : [];
    });
}

export const gemini: Family = {
  name: "gemini",
  answers: "exact",
  wire,
  dialect: {},
  keyVariable: "GEMINI_API_KEY",
  baseUrl: "https://generativelanguage.googleapis.com",
  needsKey: true,
  // It generates on, and bills, when nobody listens any more.
  abortStopsBilling: false,
  telemetryName: "gcp.gemini",
  pricedAs: "google",
  tokenizerIsClose: false,
  generatePath: (model, stream) =>
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: (apiKey): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    ...(apiKey === undefined ? {} : { "x-goog-api-key": apiKey }),
  }),
  endpoints: {
    embedding: {
      wire: embeddingWire,
      dialect: {},
      generatePath: (model) => `/v1beta/models/${encodeURIComponent(model)}:batchEmbedContents`,
    },
  },
  modelKinds: [
    { startsWith: "gemini-embedding-", kind: "embedding" },
    { startsWith: "text-embedding-", kind: "embedding" },
    { startsWith: "embedding-", kind: "embedding" },
  ],
  modelsPath: "/v1beta/models?pageSize=1000",
  readModels,
  counter: {
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:countTokens`,
    encode: countRequest,
    read: readCount,
  },
  connect: undefined,
  builtInModels: [],
};
