/** Writes whole answers for a client. */
import { type Answer, type Candidate } from "../../../api/index.js";
import type { JsonObject } from "../../json/value.js";
import { encodeWhole } from "../../openai/answer/write-whole.js";
import { encodeLogprobs } from "./logprobs.js";
import { finishName } from "./finish.js";

/** Writes a whole answer for a client. */
export function encodeAnswer(answer: Answer): Buffer {
  return encodeWhole(answer, "text_completion", encodeChoice);
}

function encodeChoice({ index, message, finishReason, stopString, logprobs }: Candidate): JsonObject {
  let text = "";
  for (const { kind } of message?.parts ?? [])
    if (kind?.$case === "text" || kind?.$case === "refusal") text += kind.value.text;
  return {
    text,
    index,
    logprobs: logprobs === undefined ? null : encodeLogprobs(logprobs, 0),
    finish_reason: finishName(finishReason),
    ...(stopString === undefined ? {} : { stop_reason: stopString }),
  };
}
