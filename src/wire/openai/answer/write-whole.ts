/** Writes the whole answers of the wires that stream in chunks. */
import type { Answer, Candidate } from "../../../api/index.js";
import type { JsonObject } from "../../json/value.js";
import { encodeUsage } from "./usage.js";

/** `object` is what the wire calls its answers, and `choiceOf` writes one of them. */
export function encodeWhole(answer: Answer, object: string, choiceOf: (candidate: Candidate) => JsonObject): Buffer {
  const fixed = {
    id: answer.id,
    object,
    created: Math.floor((answer.createTime?.getTime() ?? 0) / 1000),
    model: answer.model,
    choices: answer.candidates.map(choiceOf),
    ...(answer.usage === undefined ? {} : { usage: encodeUsage(answer.usage) }),
  };
  return Buffer.from(JSON.stringify(fixed));
}
