/** What the members of a chunk, of a candidate, and of a part of what it says are. */
import { kindTable } from "../../events/kinds.js";

export const CHUNK_KINDS = kindTable({
  holds: "candidates",
  envelope: `
    promptFeedback usageMetadata modelVersion responseId createTime modelStatus error
    automaticFunctionCallingHistory sdkHttpResponse`,
});

export const CANDIDATE_KINDS = kindTable({
  holds: "content",
  envelope: `
    index finishReason finishMessage tokenCount avgLogprobs logprobsResult safetyRatings
    groundingMetadata groundingAttributions urlContextMetadata urlRetrievalMetadata citationMetadata`,
});

export const PART_KINDS = kindTable({
  text: "text functionCall executableCode",
  // A picture or a sound, as its media type says.
  picture: "inlineData",
  // A call of a tool that Google runs.
  other: "toolCall",
  envelope: `
    thought thoughtSignature videoMetadata mediaResolution partMetadata codeExecutionResult
    functionResponse toolResponse fileData`,
});
