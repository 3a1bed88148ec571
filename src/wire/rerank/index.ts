/** Documents in the order of their relevance to a query, as Cohere, Jina, Voyage, vLLM and llama.cpp are asked. */
import type { SurfaceWire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { WIRE_NAME } from "./facts.js";
import { readRequest } from "./request/decode.js";
import { encodeRequest } from "./request/encode.js";
import { MEMBERS } from "./request/members.js";

export type { RerankDialect } from "./facts.js";

export const rerank: SurfaceWire = {
  name: WIRE_NAME,
  kind: "rerank",
  paths: ["/v1/rerank", "/v2/rerank", "/rerank", "/v1/reranking", "/reranking"],
  members: MEMBERS,
  readRequest,
  encodeRequest,
  decodeAnswer,
};
