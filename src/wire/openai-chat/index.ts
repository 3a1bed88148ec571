/** The wire of OpenAI's chat completions: what most clients and most upstreams speak. */
import { STREAM_END } from "../openai/events/write-chunks.js";
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
import { obeysThinking } from "./facts-dialect.js";

export { MEMBERS } from "./request/members.js";
export { openAiChatDialect } from "./facts-dialect.js";
export type { OpenAiChatDialect } from "./facts-dialect.js";

export const wire: Wire = {
  name: WIRE_NAME,
  obeys: obeysThinking,
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
  streamEnd: STREAM_END,
};
