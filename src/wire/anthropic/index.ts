/** The wire of Anthropic's Messages API. */
import type { Wire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { decodeError, encodeError } from "./error.js";
import { decodeStream } from "./events/read.js";
import { encodeStream } from "./events/write.js";
import { readTool } from "../request/hosted-tools.js";
import { MEMBERS, TOOLS } from "./request/members.js";
import { encodeRequest } from "./request/encode.js";
import { readRequest } from "./request/decode.js";
import { HEARTBEAT, STREAM_END, WIRE_NAME } from "./facts.js";

export { countRequest } from "./request/encode-count.js";
export { readCount } from "./answer/read-count.js";
export { encodeError as encodeErrorOf } from "./error.js";
export { BETA_HEADER, VERSION_DEFAULT, VERSION_HEADER } from "./facts.js";

export const wire: Wire = {
  name: WIRE_NAME,
  ownFacts: ["withoutThinking", "prefill"],
  takesCacheMarks: true,
  members: MEMBERS,
  readRequest,
  readTool: (json, param) => readTool(json, TOOLS, param),
  readWritten: (body) => readRequest({ wire: WIRE_NAME, body, headers: {} }),
  encodeRequest,
  decodeStream,
  decodeAnswer,
  encodeStream,
  encodeAnswer,
  decodeError,
  encodeError: (error) => encodeError(error),
  heartbeat: HEARTBEAT,
  streamEnd: STREAM_END,
};
