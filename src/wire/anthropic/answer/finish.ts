/** Why an answer ends, between the wire's words and the typed reasons. */
import { FinishReason } from "../../../api/index.js";
import { finishReasonOf, fittingReason, malformedAnswer } from "../../answer/finish-words.js";

const WORDS: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_STOP_STRING, "stop_sequence"],
  [FinishReason.FINISH_REASON_LENGTH, "max_tokens"],
  [FinishReason.FINISH_REASON_CONTEXT_FULL, "model_context_window_exceeded"],
  [FinishReason.FINISH_REASON_TOOL_CALLS, "tool_use"],
  [FinishReason.FINISH_REASON_BLOCKED, "refusal"],
  [FinishReason.FINISH_REASON_PAUSED, "pause_turn"],
]);

export function decodeReason(word: string, hasCalls: boolean): FinishReason {
  return fittingReason(finishReasonOf(word, FinishReason.FINISH_REASON_END), hasCalls);
}

/** Throws UPSTREAM_FAILED for a malformed answer: the wire has no word for it, and `end_turn` would be a lie. */
export function encodeReason(reason: FinishReason, hasCalls: boolean): string {
  if (reason === FinishReason.FINISH_REASON_MALFORMED) throw malformedAnswer();
  return WORDS.get(fittingReason(reason, hasCalls)) ?? "end_turn";
}
