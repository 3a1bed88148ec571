/** OpenAI's client format: chat completions, embeddings and the surfaces of no other format under `/v1`. */
import { wire } from "../wire/openai-chat/index.js";
import { wire as embeddingWire } from "../wire/openai-embeddings/index.js";
import { SURFACES } from "../wire/surfaces.js";
import type { Format, FormatRoute } from "./format.js";

export const openai: Format = {
  name: "openai",
  wire,
  embeddingWire,
  surfaces: SURFACES,
  routes: [
    { method: "POST", path: "/v1/chat/completions", kind: "generate" },
    { method: "POST", path: "/v1/embeddings", kind: "embed" },
    ...Object.values(SURFACES).flatMap(({ kind, paths }) =>
      paths.map((path): FormatRoute => ({ method: "POST", path, kind })),
    ),
  ],
  // Organization and project name the client's account at OpenAI; the gateway's upstreams have their own.
  wireHeaders: () => ({}),
  // Its envelope is the one that everybody gets whom no other format recognises.
  recognises: () => false,
  encodeError: (error) => wire.encodeError(error),
  replyHeaders: () => ({}),
};
