/** The wire of OpenAI's embeddings: texts in, vectors out, once and whole. */
import type { EmbeddingWire, EndpointWire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { MEMBERS } from "./request/members.js";
import { encodeRequest } from "./request/encode.js";
import { readRequest } from "./request/decode.js";
import { WIRE_NAME } from "./facts.js";

export const wire: EmbeddingWire & EndpointWire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
};
