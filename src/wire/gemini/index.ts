/** The wire of Google's Gemini API. Model and stream stand in the path, so a format tells them in headers. */
import type { Wire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { encodeAnswer } from "./answer/write.js";
import { decodeError, encodeError } from "./error.js";
import { decodeStream } from "./events/read.js";
import { encodeStream } from "./events/write.js";
import { MEMBERS } from "./request/members.js";
import { encodeRequest } from "./request/encode.js";
import { readRequest } from "./request/decode.js";
import { readTool } from "./request/scan-tools.js";
import { PATH_MODEL_HEADER, WIRE_NAME } from "./facts.js";

export { countRequest } from "./request/encode-count.js";
export { readCount } from "./answer/read-count.js";
export { wire as embeddingWire } from "./embeddings/index.js";
export { PATH_MODEL_HEADER, PATH_STREAM_HEADER } from "./facts.js";

export const wire: Wire = {
  name: WIRE_NAME,
  ownFacts: ["budgets", "signedCalls", "resultImages"],
  members: MEMBERS,
  readRequest,
  readTool,
  // Its model stands in the path.
  readWritten: (body) => readRequest({ wire: WIRE_NAME, body, headers: { [PATH_MODEL_HEADER]: "-" } }),
  encodeRequest,
  decodeStream,
  decodeAnswer,
  encodeStream,
  encodeAnswer,
  decodeError,
  encodeError,
  // An event of nothing: Google's SDKs of Python and Go take a comment for an answer that is no JSON.
  heartbeat: Buffer.from("\n\n"),
  // The end is the close of the connection.
  streamEnd: Buffer.alloc(0),
};
