/** The wire of Amazon Bedrock's Converse. No client speaks it, so it has an upstream's half alone. */
import type { UpstreamWire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { decodeError } from "./error.js";
import { decodeStream } from "./events/read.js";
import { MEMBERS } from "./request/members.js";
import { encodeRequest } from "./request/encode.js";
import { WIRE_NAME } from "./facts.js";

/** `ids` makes the name of each answer: the wire's own tells none. */
export function createWire(ids: () => string): UpstreamWire {
  return {
    name: WIRE_NAME,
    ownFacts: ["withoutThinking", "prefill", "cacheMarks"],
    takesCacheMarks: true,
    members: MEMBERS,
    encodeRequest,
    decodeStream: (_request, _form, asked) => decodeStream(asked, ids),
    decodeAnswer: (body, asked) => decodeAnswer(body, asked, ids),
    decodeError,
  };
}
