/** The wire of Google's vectors: one content or a batch of them in, their vectors out, once and whole. */
import type { EmbeddingWire, EndpointWire } from "../../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { WIRE_NAME } from "./facts.js";
import { readRequest } from "./request/decode.js";
import { encodeRequest } from "./request/encode.js";
import { MEMBERS } from "./request/members.js";

export const wire: EmbeddingWire & EndpointWire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
};
