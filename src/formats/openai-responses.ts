/** OpenAI's newer client format: responses under `/v1`. */
import {
  encodeRefusal,
  mayKeep,
  mayName,
  namedItems,
  readMessage,
  refuseUnserved,
  toldItems,
  TurnReader,
  wire,
} from "../wire/openai-responses/index.js";
import { LONG_BODY_BYTES } from "../wire/json/weight.js";
import { type Format, outlined } from "./format.js";

export const openaiResponses: Format = {
  name: "openai-responses",
  wire,
  routes: [
    { method: "POST", path: "/v1/responses", kind: "generate" },
    { method: "POST", path: "/v1/responses/input_tokens", kind: "count" },
  ],
  // Organization and project name the client's account at OpenAI; the gateway's upstreams have their own.
  wireHeaders: () => ({}),
  // Its envelope is the one of chat completions, which everybody gets whom no other format recognises.
  recognises: () => false,
  encodeError: (error) => wire.encodeError(error),
  replyHeaders: () => ({}),
  memory: {
    mayName,
    namedIn: namedItems,
    // To search a long body takes the event loop from all others, and its outline says the same.
    mayKeep: (source) => mayKeep(source.body.length > LONG_BODY_BYTES ? outlined(source).body : source.body),
    toldIn: toldItems,
  },
  socket: { path: "/v1/responses", read: readMessage, refuseUnserved, follow: () => new TurnReader(), encodeRefusal },
  encodeCount: (inputTokens) =>
    Buffer.from(JSON.stringify({ object: "response.input_tokens", input_tokens: inputTokens })),
};
