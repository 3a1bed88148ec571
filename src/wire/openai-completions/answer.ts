/** Whole answers, both directions. */
import { type Answer, type Candidate, FinishReason } from "../../api/index.js";
import type { JsonObject } from "../json/value.js";
import { encodeUsage } from "../openai-usage.js";
import { decodeWhole } from "../openai-whole.js";
import type { DecodedAnswer } from "../wire.js";
import { CompletionReader } from "./answer-reader.js";
import { encodeLogprobs } from "./logprobs.js";

const FINISH_NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_LENGTH, "length"],
  [FinishReason.FINISH_REASON_BLOCKED, "content_filter"],
]);

export function finishName(reason: FinishReason): string {
  return FINISH_NAMES.get(reason) ?? "stop";
}

/** Reads a whole answer. Throws as `decodeWhole`. */
export function decodeAnswer(body: Buffer): DecodedAnswer {
  return decodeWhole(body, (isTyped) => new CompletionReader(isTyped, 0));
}

/** Writes a whole answer for a client. */
export function encodeAnswer(answer: Answer): Buffer {
  const fixed = {
    id: answer.id,
    object: "text_completion",
    created: Math.floor((answer.createTime?.getTime() ?? 0) / 1000),
    model: answer.model,
    choices: answer.candidates.map(encodeChoice),
    ...(answer.usage === undefined ? {} : { usage: encodeUsage(answer.usage) }),
  };
  return Buffer.from(JSON.stringify(fixed));
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
