/** The wire of OpenAI's responses: what Codex and the newer clients speak. */
import { decodeError, encodeError } from "../openai/error.js";
import type { Wire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { decodeStream } from "./events/read.js";
import { encodeStream } from "./events/write.js";
import { readTool } from "../request/hosted-tools.js";
import { MEMBERS, TOOLS } from "./request/members.js";
import { encodeRequest } from "./request/encode.js";
import { readRequest } from "./request/decode.js";
import { WIRE_NAME } from "./facts.js";

export { compaction } from "./compaction/index.js";
export { type SocketRequest, readMessage, type Turn } from "./request/decode-socket.js";
export { refuseUnserved } from "./request/decode-unserved.js";
export { encodeRefusal } from "./error.js";
export { TurnReader } from "./events/read-turn.js";
export { mayKeep, mayName, type NamedItem, namedItems, toldItems } from "./request/decode-references.js";

export const wire: Wire = {
  name: WIRE_NAME,
  // Effort is the one word that it has for it.
  obeys: (fact, way) => fact === "efforts" || way === "effort" || way === "none" || way === "always",
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
  encodeError,
  heartbeat: Buffer.from(": ping\n\n"),
  // The last event tells the whole response, so it is the answer's own.
  streamEnd: Buffer.alloc(0),
};
