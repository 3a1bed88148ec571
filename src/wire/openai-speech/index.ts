/** A text as speech, as OpenAI's clients ask for it. The answer is sound, as bytes or as events. */
import type { SurfaceWire } from "../wire.js";
import { decodeAnswer } from "./answer/read.js";
import { decodeStream } from "./events/read.js";
import { failureEvent } from "./events/write.js";
import { WIRE_NAME } from "./facts.js";
import { answerTypeOf, readRequest } from "./request/decode.js";
import { encodeRequest } from "./request/encode.js";
import { MEMBERS } from "./request/members.js";

export type { SpeechDialect } from "./facts.js";

export const speech: SurfaceWire = {
  name: WIRE_NAME,
  kind: "speech",
  paths: ["/v1/audio/speech"],
  members: MEMBERS,
  namesNoModel: true,
  readRequest,
  answerTypeOf,
  failureEvent,
  encodeRequest,
  decodeStream,
  decodeAnswer,
};
