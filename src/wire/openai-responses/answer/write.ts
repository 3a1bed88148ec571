/** Writes whole answers for a client. */
import type { Answer, Event } from "../../../api/index.js";
import type { RequestFacts, WireRequest } from "../../wire.js";
import { ResponsesStreamEncoder } from "../events/write.js";

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
