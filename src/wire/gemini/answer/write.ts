/** Writes whole answers for a client. */
import type { Answer, Candidate } from "../../../api/index.js";
import { arrayText, jsonOf, objectText } from "../../json/text.js";
import { partJson, textJson } from "./write-parts.js";
import { encodeFinish } from "./finish.js";
import { encodeLogprobs } from "./logprobs.js";
import { encodeUsage } from "./usage.js";

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
