/**
 * OpenAI's models on Azure, by deployment: the model of a target is the deployment's name, and the settings'
 * `base_url` is the resource, such as https://name.openai.azure.com. Its newer address without versions
 * (`.../openai/v1`) is served by the family openai-compatible. Source: the reference of 2024-10-21 on
 * learn.microsoft.com.
 */
import { setTimeout as pause } from "node:timers/promises";
import { createBearerProver } from "../../upstream/bearer.js";
import { createSignedUpstream } from "../../upstream/signed.js";
import { chatFamily } from "../chat-family.js";
import { entraToken } from "./token.js";

/** The newest version of the data plane that is no preview. */
const API_VERSION = "2024-10-21";

export const azure = chatFamily({
  name: "azure",
  // Choices were seen without their number.
  answers: "fitted",
  // Not in the reference of this version, and some deployments refuse it.
  promptCaches: ["prompt_cache_key"],
  // A resource has an address of its own, so a key alone does not say where to go.
  keyVariable: undefined,
  baseUrl: undefined,
  // Without one, Microsoft Entra ID issues tokens for the identity that the environment names.
  needsKey: false,
  authorize: (upstream, credential, _baseUrl, environment) => {
    if (credential !== undefined) return upstream;
    const clock = { nowMs: Date.now, monotonicMs: () => performance.now(), pause };
    return createSignedUpstream(upstream, createBearerProver(entraToken(environment, clock)));
  },
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  telemetryName: "azure.ai.openai",
  pricedAs: "azure",
  refusals: [{ status: 404, code: "DeploymentNotFound", kind: "model" }],
  // An answer names the model, and a request its deployment.
  namesAnswersItself: true,
  tokenizerIsClose: true,
  keyHeader: "api-key",
  generatePath: (deployment) =>
    `/openai/deployments/${encodeURIComponent(deployment)}/chat/completions?api-version=${API_VERSION}`,
  // Its list names the models that could be deployed, not the deployments.
  modelsPath: undefined,
  dialect: { customTools: false, allowedTools: false },
});
