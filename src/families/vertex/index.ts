/** Gemini on Google's cloud: the same wire under a project's address, with a token in place of a key. */
import { createBearerProver } from "../../upstream/bearer.js";
import { createSignedUpstream } from "../../upstream/signed.js";
import { wire } from "../../wire/gemini/index.js";
import type { Family } from "../family.js";
import { googleToken, readCredential } from "./token.js";

export const vertex: Family = {
  name: "vertex",
  answers: "exact",
  wire,
  dialect: {},
  keyVariable: undefined,
  // The address names the project and the place:
  // https://us-central1-aiplatform.googleapis.com/v1/projects/my-project/locations/us-central1
  baseUrl: undefined,
  // Without one the machine's own identity is asked.
  needsKey: false,
  readsKeyFile: true,
  // As with the same models at Google's other address.
  abortStopsBilling: false,
  telemetryName: "gcp.vertex_ai",
  pricedAs: "google",
  tokenizerIsClose: false,
  generatePath: (model, stream) =>
    `/publishers/google/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: () => ({ "content-type": "application/json" }),
  authorize: (upstream, credential) => {
    const clock = { nowMs: Date.now, monotonicMs: () => performance.now() };
    return createSignedUpstream(upstream, createBearerProver(googleToken(readCredential(credential), clock)));
  },
  modelsPath: undefined,
  readModels: () => {
    throw new Error("it has no list of models");
  },
  connect: undefined,
  builtInModels: [],
};
