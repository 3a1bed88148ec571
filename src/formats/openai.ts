/** OpenAI's client format: chat completions and embeddings under `/v1`. */
import { wire } from "../wire/openai-chat/index.js";
import { wire as embeddingWire } from "../wire/openai-embeddings/index.js";
import type { Format } from "./format.js";

export const openai: Format = {
  name: "openai",
  wire,
  embeddingWire,
  routes: [
    { method: "POST", path: "/v1/chat/completions", kind: "generate" },
    { method: "POST", path: "/v1/embeddings", kind: "embed" },
  ],
  // Organization and project name the client's account at OpenAI; the gateway's upstreams have their own.
  wireHeaders: () => ({}),
  // Its envelope is the one that everybody gets whom no other format recognises.
  recognises: () => false,
  encodeError: (error) => wire.encodeError(error),
  replyHeaders: () => ({}),
};
