/** Google's Gemini API. */
import { z } from "zod";
import { wire } from "../wire/gemini/index.js";
import type { GeminiDialect, GeminiModels } from "../wire/gemini/index.js";
import type { Family, ListedModel } from "./family.js";

const LISTED_MAX = 10_000;

/** Efforts in tokens of thinking, as Google's own endpoint for OpenAI's clients has them. */
const BUDGETS = { none: 0, minimal: 512, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576, max: 24_576 };

const OLDER: Omit<GeminiModels, "startsWith"> = {
  thinking: "none",
  levels: [],
  budgets: {},
  needsSignature: false,
  mediaInResults: false,
};
const LEVELS: Omit<GeminiModels, "startsWith" | "levels"> = {
  thinking: "level",
  budgets: {},
  needsSignature: true,
  mediaInResults: true,
};

const dialect: GeminiDialect = {
  models: [
    { ...OLDER, startsWith: "gemini-1" },
    { ...OLDER, startsWith: "gemini-2.0" },
    // It cannot be kept from thinking at all.
    { ...OLDER, startsWith: "gemini-2.5-pro", thinking: "budget", budgets: { ...BUDGETS, none: 128 } },
    { ...OLDER, startsWith: "gemini-2.5", thinking: "budget", budgets: BUDGETS },
    { ...OLDER, startsWith: "gemma" },
    { ...OLDER, startsWith: "learnlm" },
    { ...LEVELS, startsWith: "gemini-3-pro", levels: ["LOW", "HIGH"] },
    { ...LEVELS, startsWith: "gemini-3.1-pro", levels: ["LOW", "MEDIUM", "HIGH"] },
  ],
};

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
  dialect,
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
  connect: undefined,
  builtInModels: [],
};
