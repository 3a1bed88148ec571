/** A whole answer as the one batch that it is. */
import { asUtf8 } from "../api/utf8.js";
import type { Batch, DecodedAnswer } from "../wire/wire.js";

const NO_BYTES = Buffer.alloc(0);

/** `isTyped`: as steps, else as the wire's own bytes. */
export function wholeBatch(answer: DecodedAnswer, body: Buffer, isTyped: boolean): Batch {
  return {
    events: isTyped ? answer.events() : [],
    source: isTyped ? NO_BYTES : asUtf8(answer.source ?? body),
    visible: true,
    error: undefined,
    embeddings: isTyped ? answer.embeddings?.() : undefined,
  };
}
