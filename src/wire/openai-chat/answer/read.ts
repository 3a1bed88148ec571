/** Reads whole answers. */
import { type JsonObject } from "../../json/value.js";
import type { AnswerForm, DecodedAnswer, WireRequest } from "../../wire.js";
import { decodeWhole } from "../../openai/answer/read-whole.js";
import { AnswerFitter } from "./read-fitted.js";
import { AnswerReader } from "./read-steps.js";

/** Reads a whole answer. Throws as `decodeWhole`. */
export function decodeAnswer(body: Buffer, asked?: WireRequest, form?: AnswerForm): DecodedAnswer {
  const readerOf = (isTyped: boolean): AnswerReader => new AnswerReader(isTyped, 0, asked);
  const fit = (answer: JsonObject, bytes: Buffer): JsonObject => new AnswerFitter(asked).whole(answer, bytes);
  return decodeWhole(body, readerOf, form === "fitted" ? fit : undefined);
}
