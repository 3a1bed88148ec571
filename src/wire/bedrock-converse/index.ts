/** The wire of Amazon Bedrock's Converse. No client speaks it, so it has an upstream's half alone. */
import type { UpstreamWire } from "../wire.js";
import { decodeAnswer } from "./answer.js";
import { decodeError } from "./error.js";
import { decodeStream } from "./events.js";
import { encodeRequest } from "./request.js";
import { WIRE_NAME } from "./schema.js";

export const wire: UpstreamWire = { name: WIRE_NAME, encodeRequest, decodeStream, decodeAnswer, decodeError };
