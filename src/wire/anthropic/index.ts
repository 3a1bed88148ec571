/** The wire of Anthropic's Messages API. */
import type { Wire } from "../wire.js";
import { decodeAnswer, encodeAnswer } from "./answer.js";
import { decodeError, encodeError } from "./error.js";
import { decodeStream, encodeStream } from "./events.js";
import { readTool } from "../hosted-tools.js";
import { MEMBERS, TOOLS } from "./members.js";
import { encodeRequest, readRequest } from "./request.js";
import { HEARTBEAT, STREAM_END, WIRE_NAME } from "./schema.js";

export { countRequest, readCount } from "./count.js";
export { encodeError as encodeErrorOf } from "./error.js";
export { BETA_HEADER, VERSION_DEFAULT, VERSION_HEADER } from "./schema.js";

export const wire: Wire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
  readTool: (json, param) => readTool(json, TOOLS, param),
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
