/** Whole answers, both directions. */
import { type Answer, type Candidate, FinishReason } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { type JsonObject, listOf, objectOf, parsed } from "../json/value.js";
import { encodeUsage } from "../openai-usage.js";
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

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer): DecodedAnswer {
  const answer = objectOf(parsed(body.toString()));
  if (answer === undefined) throw failed("its answer is no JSON object");
  return { report: read(answer, false), events: () => read(answer, true).takeEvents() };
}

function read(answer: JsonObject, isTyped: boolean): CompletionReader {
  const reader = new CompletionReader(isTyped, 0);
  const error = reader.read(answer);
  if (error !== undefined) throw error;
  if (listOf(answer["choices"]).length === 0) throw failed("its answer holds no choices");
  // A body that can be read at all is whole, whatever reasons it gives.
  reader.isDone = true;
  return reader;
}

function failed(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
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
