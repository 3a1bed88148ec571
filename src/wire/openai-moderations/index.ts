/** Whether content is harmful, as OpenAI and Mistral are asked. Only an upstream that judges may answer. */
import type { SurfaceWire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { WIRE_NAME } from "./facts.js";
import { readRequest } from "./request/decode.js";
import { encodeRequest } from "./request/encode.js";
import { MEMBERS } from "./request/members.js";

export const moderations: SurfaceWire = {
  name: WIRE_NAME,
  kind: "moderation",
  paths: ["/v1/moderations"],
  members: MEMBERS,
  readRequest,
  encodeRequest,
  decodeAnswer,
};
