/** The wire of OpenAI's older completions: a text in, the text that follows it out. */
import { STREAM_END } from "../openai-chunks.js";
import { decodeError, encodeError } from "../openai-error.js";
import type { Wire } from "../wire.js";
import { decodeAnswer, encodeAnswer } from "./answer.js";
import { decodeStream, encodeStream } from "./events.js";
import { MEMBERS } from "./members.js";
import { encodeRequest, readRequest, WIRE_NAME } from "./request.js";

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
