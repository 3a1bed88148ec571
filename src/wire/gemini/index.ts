/** The wire of Google's Gemini API. Model and stream stand in the path, so a format tells them in headers. */
import type { Wire } from "../wire.js";
import { decodeAnswer, encodeAnswer } from "./answer.js";
import { decodeError, encodeError } from "./error.js";
import { decodeStream, encodeStream } from "./events.js";
import { MEMBERS } from "./members.js";
import { encodeRequest, readRequest } from "./request.js";
import { readTool } from "./scan-tools.js";
import { WIRE_NAME } from "./schema.js";

export { countRequest, readCount } from "./count.js";
export { embeddingWire } from "./embedding.js";
export { embeddingClientWire } from "./embedding-client.js";
export { PATH_MODEL_HEADER, PATH_STREAM_HEADER } from "./schema.js";

export const wire: Wire = {
  name: WIRE_NAME,
  members: MEMBERS,
  readRequest,
  readTool,
  encodeRequest,
  decodeStream,
  decodeAnswer,
  encodeStream,
  encodeAnswer,
  decodeError,
  encodeError,
  heartbeat: Buffer.from(": ping\n\n"),
  // The end is the close of the connection.
  streamEnd: Buffer.alloc(0),
};
