/** Why an answer ends, in the typed reasons. */
import { FinishReason } from "../../api/index.js";

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", FinishReason.FINISH_REASON_END],
  ["stop_sequence", FinishReason.FINISH_REASON_STOP_STRING],
  ["max_tokens", FinishReason.FINISH_REASON_LENGTH],
  ["model_context_window_exceeded", FinishReason.FINISH_REASON_LENGTH],
  ["tool_use", FinishReason.FINISH_REASON_TOOL_CALLS],
  ["content_filtered", FinishReason.FINISH_REASON_BLOCKED],
  ["guardrail_intervened", FinishReason.FINISH_REASON_BLOCKED],
  // Anthropic's own word, should it come through: the reference does not name it.
  ["refusal", FinishReason.FINISH_REASON_BLOCKED],
  ["malformed_model_output", FinishReason.FINISH_REASON_MALFORMED],
  ["malformed_tool_use", FinishReason.FINISH_REASON_MALFORMED],
]);

/** The reason, as far as it fits what came: an answer with calls waits for their results, and no other does. */
export function decodeReason(word: string, hasCalls: boolean): FinishReason {
  if (word === "") return FinishReason.FINISH_REASON_UNSPECIFIED;
  const reason = REASONS.get(word) ?? FinishReason.FINISH_REASON_END;
  if (reason === FinishReason.FINISH_REASON_END && hasCalls) return FinishReason.FINISH_REASON_TOOL_CALLS;
  return reason === FinishReason.FINISH_REASON_TOOL_CALLS && !hasCalls ? FinishReason.FINISH_REASON_END : reason;
}
