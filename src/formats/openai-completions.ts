/** OpenAI's older client format: completions of a text under `/v1`. */
import { wire } from "../wire/openai-completions/index.js";
import type { Format } from "./format.js";

export const openaiCompletions: Format = {
  name: "openai-completions",
  wire,
  routes: [{ method: "POST", path: "/v1/completions", kind: "generate" }],
  wireHeaders: () => ({}),
  recognises: () => false,
  encodeError: (error) => wire.encodeError(error),
  replyHeaders: () => ({}),
};
