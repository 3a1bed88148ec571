/** Reads whole answers. */
import { decodeWhole } from "../../openai/answer/read-whole.js";
import type { DecodedAnswer } from "../../wire.js";
import { CompletionReader } from "./read-steps.js";

/** Reads a whole answer. Throws as `decodeWhole`. */
export function decodeAnswer(body: Buffer): DecodedAnswer {
  return decodeWhole(body, (isTyped) => new CompletionReader(isTyped, 0));
}
