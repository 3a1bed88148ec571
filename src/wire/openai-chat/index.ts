/** The wire of OpenAI's chat completions: what most clients and most upstreams speak. */
import { STREAM_END } from "../openai-chunks.js";
import { decodeError, encodeError } from "../openai-error.js";
import type { Wire } from "../wire.js";
import { decodeAnswer, encodeAnswer } from "./answer.js";
import { decodeStream, encodeStream } from "./events.js";
import { readTool } from "../hosted-tools.js";
import { MEMBERS, TOOLS } from "./members.js";
import { encodeRequest, readRequest } from "./request.js";
import { WIRE_NAME } from "./schema.js";

export { MEMBERS } from "./members.js";
export { openAiChatDialect } from "./dialect.js";
export type { OpenAiChatDialect } from "./dialect.js";

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
  streamEnd: STREAM_END,
};
