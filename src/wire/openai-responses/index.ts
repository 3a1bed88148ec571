/** The wire of OpenAI's responses: what Codex and the newer clients speak. */
import { decodeError, encodeError } from "../openai-error.js";
import type { Wire } from "../wire.js";
import { decodeAnswer, encodeAnswer } from "./answer.js";
import { decodeStream, encodeStream } from "./events.js";
import { readTool } from "../hosted-tools.js";
import { MEMBERS, TOOLS } from "./members.js";
import { encodeRequest, readRequest } from "./request.js";
import { WIRE_NAME } from "./schema.js";

export { compaction } from "./compaction.js";
export { type Asked, encodeRefusal, readMessage, type Turn, TurnReader } from "./socket.js";
export { mayKeep, responseIn, withNamedItems } from "./references.js";

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
  encodeError,
  heartbeat: Buffer.from(": ping\n\n"),
  // The last event tells the whole response, so it is the answer's own.
  streamEnd: Buffer.alloc(0),
};
