/** Whole answers, both directions. */
import type { Answer, Event } from "../../api/index.js";
import { GatewayError } from "../../errors.js";
import { objectOf, parsed } from "../json/value.js";
import type { DecodedAnswer, RequestFacts, WireRequest } from "../wire.js";
import { AnswerReader } from "./answer-reader.js";
import { ResponsesStreamEncoder } from "./events-encode.js";

/** Reads a whole answer. Throws the error that it tells, and UPSTREAM_FAILED where it is no answer. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  const response = objectOf(parsed(body.toString()));
  if (response === undefined) throw failed("its answer is no JSON object");
  const read = (reader: AnswerReader): AnswerReader => {
    const error = reader.readWhole(response);
    if (error !== undefined) throw error;
    if (!reader.complete) throw failed("its answer holds no output");
    return reader;
  };
  return { report: read(new AnswerReader(false)), events: () => read(new AnswerReader(true, asked)).takeEvents() };
}

function failed(problem: string): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem });
}

/** What of a request decides how its answer is written, where the request itself is not known. */
const NO_FACTS: RequestFacts = {
  model: "",
  stream: false,
  includeUsage: true,
  candidateCount: 1,
  outputTokensMax: undefined,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};

/** Writes a whole answer for a client: as the last event of its stream would tell it. */
export function encodeAnswer(answer: Answer, asked?: () => WireRequest): Buffer {
  const request = asked?.();
  const encoder = new ResponsesStreamEncoder(request?.facts ?? NO_FACTS, request);
  encoder.push(stepsOf(answer));
  return Buffer.from(encoder.whole(answer.usage));
}

function stepsOf({ id, model, createTime, candidates }: Answer): Event[] {
  const events: Event[] = [{ kind: { $case: "start", value: { id, model, createTime, inputTokens: undefined } } }];
  for (const { index: candidate, message, finishReason: reason, stopString, logprobs } of candidates) {
    const parts = message?.parts ?? [];
    const lastText = parts.findLastIndex(({ kind }) => kind?.$case === "text");
    parts.forEach((part, place) => {
      events.push({ kind: { $case: "part", value: { candidate, part } } });
      if (place === lastText && logprobs !== undefined) events.push({ kind: { $case: "logprobs", value: logprobs } });
    });
    events.push({ kind: { $case: "candidateEnd", value: { candidate, reason, stopString } } });
  }
  return events;
}
