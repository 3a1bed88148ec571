/** OpenAI's compaction, a wire beside that of responses: a conversation in, what stands for it from then on out. */
import { decodeError, encodeError } from "../openai-error.js";
import { readTool } from "../hosted-tools.js";
import type { ClientWire, EndpointWire } from "../wire.js";
import { decodeAnswer } from "./answer.js";
import { encodeAnswer } from "./compaction-answer.js";
import { encodeRequest, readRequest, WIRE_NAME } from "./compaction-request.js";
import { encodeStream } from "./events.js";
import { MEMBERS, TOOLS } from "./members.js";

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
