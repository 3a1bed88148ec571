/** Google's Gemini API. */
import { z } from "zod";
import { countRequest, readCount, wire } from "../wire/gemini/index.js";
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

/** Reads `{"models": [{"name", "supportedGenerationMethods"}]}`: those that generate. Throws where it is no list. */
function readModels(body: Buffer): readonly ListedModel[] {
  return modelListSchema
    .parse(JSON.parse(body.toString("utf8")))
    .models.filter(({ supportedGenerationMethods: methods }) => methods?.includes("generateContent") ?? true)
    .map(({ name }) => ({ id: name.replace(/^models\//, ""), owner: "google", createdSeconds: undefined }));
}

export const gemini: Family = {
  name: "gemini",
  wire,
  dialect: {},
  keyVariable: "GEMINI_API_KEY",
  baseUrl: "https://generativelanguage.googleapis.com",
  needsKey: true,
  // It generates on, and bills, when nobody listens any more.
  abortStopsBilling: false,
  pricedAs: "google",
  countsLikeOurs: false,
  generatePath: (model, stream) =>
    `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: (apiKey): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    ...(apiKey === undefined ? {} : { "x-goog-api-key": apiKey }),
  }),
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
