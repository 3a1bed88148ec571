/** OpenAI's compaction, a wire beside that of responses: a conversation in, what stands for it from then on out. */
import { decodeError, encodeError } from "../../openai/error.js";
import { readTool } from "../../request/hosted-tools.js";
import type { ClientWire, EndpointWire } from "../../wire.js";
import { decodeAnswer } from "../answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { encodeRequest } from "./request/encode.js";
import { readRequest } from "./request/decode.js";
import { WIRE_NAME } from "./facts.js";
import { encodeStream } from "../events/write.js";
import { MEMBERS, TOOLS } from "../request/members.js";

/** It never streams, whatever a client asks. */
export const compaction: ClientWire & EndpointWire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
  readTool: (json, param) => readTool(json, TOOLS, param),
  encodeRequest,
  decodeAnswer,
  encodeStream,
  encodeAnswer,
  decodeError,
  encodeError,
  heartbeat: Buffer.from(": ping\n\n"),
  streamEnd: Buffer.alloc(0),
};
