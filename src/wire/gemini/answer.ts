/** Whole answers, both directions. */
import type { Answer, Candidate } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { type JsonObject, objectOf, parsed } from "../json/value.js";
import { arrayText, jsonOf, objectText } from "../json/text.js";
import type { DecodedAnswer, WireRequest } from "../wire.js";
import { partJson, textJson } from "./answer-parts.js";
import { AnswerReader } from "./answer-reader.js";
import { encodeFinish } from "./finish.js";
import { encodeLogprobs } from "./logprobs.js";
import { encodeUsage } from "./usage.js";

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const value = parsed(body.toString());
  const chunks = (Array.isArray(value) ? value : [value]).map(objectOf);
  const report = read(chunks, false, undefined);
  return { report, events: () => read(chunks, true, asked).takeEvents() };
}

/** A body that can be read at all is whole, whatever reasons it gives. */
class WholeReader extends AnswerReader {
  override get complete(): boolean {
    return true;
  }
}

function read(
  chunks: readonly (JsonObject | undefined)[],
  isTyped: boolean,
  asked: WireRequest | undefined,
): AnswerReader {
  const reader = new WholeReader(isTyped, 0, asked);
  let isAnswer = false;
  for (const chunk of chunks) {
    if (chunk === undefined) throw failed("its answer is no JSON object");
    const error = reader.read(chunk);
    if (error !== undefined) throw error;
    isAnswer ||= Array.isArray(chunk["candidates"]) && chunk["candidates"].length > 0;
  }
  if (!isAnswer && !reader.isBlocked) throw failed("its answer holds no candidates");
  reader.finish(true);
  return reader;
}

function failed(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}

/** Writes a whole answer for a client. */
export function encodeAnswer(answer: Answer): Buffer {
  const { usage, createTime } = answer;
  return Buffer.from(
    objectText([
      ["candidates", arrayText(answer.candidates.map(encodeCandidate))],
      ["usageMetadata", usage === undefined ? undefined : JSON.stringify(encodeUsage(usage))],
      ["modelVersion", jsonOf(answer.model)],
      ["createTime", createTime === undefined ? undefined : jsonOf(createTime.toISOString())],
      ["responseId", jsonOf(answer.id)],
    ]),
  );
}

function encodeCandidate({ message, finishReason, index, logprobs }: Candidate): string {
  const parts = (message?.parts ?? []).flatMap((part) => partJson(part) ?? []);
  return objectText([
    // Some clients look for the first part of whatever they get.
    ["content", `{"parts":${arrayText(parts.length === 0 ? [textJson("")] : parts)},"role":"model"}`],
    ["finishReason", jsonOf(encodeFinish(finishReason))],
    ["index", String(index)],
    ["logprobsResult", logprobs === undefined ? undefined : JSON.stringify(encodeLogprobs(logprobs))],
  ]);
}
