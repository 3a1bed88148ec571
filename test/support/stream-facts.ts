/** What is known of a request for a stream that says nothing of itself. */
import type { RequestFacts } from "../../src/wire/wire.js";

export const STREAM_FACTS: RequestFacts = {
  model: "m",
  stream: true,
  includeUsage: true,
  candidateCount: 1,
  outputTokensMax: undefined,
  textBytes: 0,
  imageCount: 0,
  fileCount: 0,
  audioCount: 0,
};
