/** What the gateway must know of a request for vectors, of whichever wire. */
import type { RequestFacts } from "../wire.js";

/** Nothing is generated, and nothing streams. */
export function embeddingFacts(model: string, textBytes: number, inputCount: number): RequestFacts {
  return {
    model,
    stream: false,
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: 0,
    textBytes,
    imageCount: 0,
    fileCount: 0,
    audioCount: 0,
    inputCount,
  };
}
