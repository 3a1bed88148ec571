/** What requests for vectors have in common, of whichever wire and in the typed form. */
import assert from "node:assert/strict";
import type { RequestFacts } from "../wire.js";

/** The most inputs of one request: OpenAI's own bound. */
export const EMBEDDING_INPUTS_MAX = 2_048;

/** What a model puts around each input: no tokenizer makes more tokens of so many bytes. */
export const MARK_BYTES = 2;

/** The bytes of texts, with the marks around each. */
export function markedBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + MARK_BYTES, 0);
}

/**
 * Nothing is generated, and nothing streams. `textBytes` are of all that its upstream may read; `fileCount` counts what
 * may hold more than its bytes.
 */
export function embeddingFacts(model: string, textBytes: number, inputCount: number, fileCount = 0): RequestFacts {
  return {
    model,
    stream: false,
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: 0,
    textBytes,
    imageCount: 0,
    fileCount,
    audioCount: 0,
    inputCount,
  };
}

/** In place of the typed prompt: whoever asks for that took the request for another. */
export function noPrompt(): never {
  assert.fail("a request for vectors has no prompt");
}
