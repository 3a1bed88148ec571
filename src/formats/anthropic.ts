/** Anthropic's client format: messages under `/v1`, told apart from others by its version header. */
import { BETA_HEADER, encodeErrorOf, VERSION_HEADER, wire } from "../wire/anthropic/index.js";
import { anthropicModels } from "./anthropic-models.js";
import { anthropicLimits } from "./anthropic-limits.js";
import type { Format } from "./format.js";

export const anthropic: Format = {
  name: "anthropic",
  wire,
  routes: [
    { method: "POST", path: "/v1/messages", kind: "generate" },
    { method: "POST", path: "/v1/messages/count_tokens", kind: "count" },
  ],
  // An Anthropic upstream gets both as they came; workspace and profile name the client's account at Anthropic.
  wireHeaders: ({ headers }) => {
    const kept: Record<string, string> = {};
    for (const name of [VERSION_HEADER, BETA_HEADER]) {
      const value = headers[name];
      if (value !== undefined) kept[name] = value;
    }
    return kept;
  },
  // Its newer clients send their key as everybody does, so the key's header says nothing.
  recognises: ({ headers }) => VERSION_HEADER in headers,
  models: anthropicModels,
  encodeError: (error, requestId) => encodeErrorOf(error, requestId),
  replyHeaders: (requestId) => ({ "request-id": requestId }),
  limitHeaders: anthropicLimits,
  encodeCount: (inputTokens) => Buffer.from(JSON.stringify({ input_tokens: inputTokens })),
};
