/** The wire of OpenAI's older completions: a text in, the text that follows it out. */
import { STREAM_END } from "../openai/events/write-chunks.js";
import { decodeError, encodeError } from "../openai/error.js";
import type { Wire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { decodeStream } from "./events/read.js";
import { encodeStream } from "./events/write.js";
import { MEMBERS } from "./request/members.js";
import { encodeRequest } from "./request/encode.js";
import { readRequest } from "./request/decode.js";
import { WIRE_NAME } from "./facts.js";

export const wire: Wire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
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
