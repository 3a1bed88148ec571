/** The wire of OpenAI's embeddings: texts in, vectors out, once and whole. */
import type { EmbeddingWire, EndpointWire } from "../wire.js";
import { decodeAnswer, encodeAnswer } from "./answer.js";
import { MEMBERS } from "./members.js";
import { encodeRequest, readRequest, WIRE_NAME } from "./request.js";

export const wire: EmbeddingWire & EndpointWire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
};
