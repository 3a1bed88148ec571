/** xAI. */
import { chatFamily } from "./chat-family.js";

export const xai = chatFamily({
  name: "xai",
  answers: "fitted",
  keyVariable: "XAI_API_KEY",
  baseUrl: "https://api.x.ai/v1",
  abortStopsBilling: true,
  wholeAnswersBillOn: true,
  telemetryName: "x_ai",
  pricedAs: "x-ai",
  dialect: {
    developerRole: false,
    allowedTools: false,
    customTools: false,
    lacks: ["logit_bias", "verbosity", "modalities", "audio", "prediction"],
  },
});
