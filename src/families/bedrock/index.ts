/** Amazon Bedrock: models of many makers behind one wire, and a signature in place of a key. */
import { randomUUID } from "node:crypto";
import { createSignedUpstream } from "../../upstream/signed.js";
import { createWire } from "../../wire/bedrock-converse/index.js";
import type { Family } from "../family.js";
import { isBearer, readRegion, readSigner, regionIn } from "./credential.js";
import { fixedSigner, machineSigner } from "./identity.js";
import { createSigningProver } from "./signature.js";

export const bedrock: Family = {
  name: "bedrock",
  answers: "exact",
  wire: createWire(randomUUID),
  dialect: {},
  keyVariable: undefined,
  // Each region has its own.
  baseUrl: undefined,
  baseUrlIn: (environment) => {
    const region = regionIn(environment);
    return region === undefined ? undefined : `https://bedrock-runtime.${region}.amazonaws.com`;
  },
  // Without one the machine's own identity is used.
  needsKey: false,
  // It generates on, and bills, when nobody listens any more.
  abortStopsBilling: false,
  telemetryName: "aws.bedrock",
  pricedAs: "aws",
  tokenizerIsClose: false,
  generatePath: (model, stream) => `/model/${encodeURIComponent(model)}/${stream ? "converse-stream" : "converse"}`,
  headers: (apiKey): Readonly<Record<string, string>> => ({
    "content-type": "application/json",
    ...(isBearer(apiKey) ? { authorization: `Bearer ${apiKey}` } : {}),
  }),
  authorize: (upstream, credential, baseUrl, environment) => {
    if (isBearer(credential)) return upstream;
    const region = readRegion(baseUrl, environment);
    const pair = readSigner(credential, environment);
    const clock = { nowMs: Date.now, monotonicMs: () => performance.now() };
    const source = pair === undefined ? machineSigner(clock) : fixedSigner(pair);
    return createSignedUpstream(upstream, createSigningProver(source, region, baseUrl, clock.nowMs));
  },
  modelsPath: undefined,
  readModels: () => {
    throw new Error("it has no list of models");
  },
  connect: undefined,
  builtInModels: [],
};
