/** Reads whole answers. */
import { decodeWhole } from "../../openai/answer/read-whole.js";
import type { DecodedAnswer, WireRequest } from "../../wire.js";
import { CompletionReader } from "./read-steps.js";

/** Reads a whole answer. Throws as `decodeWhole`. */
export function decodeAnswer(body: Buffer, asked?: WireRequest): DecodedAnswer {
  return decodeWhole(body, (isTyped) => new CompletionReader(isTyped, 0, asked));
}
