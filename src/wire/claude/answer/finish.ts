/** Why an answer of Claude's ends, in the words that its wires have alike. */
import { FinishReason } from "../../../api/index.js";

export const REASONS: readonly (readonly [string, FinishReason])[] = [
  ["end_turn", FinishReason.FINISH_REASON_END],
  ["stop_sequence", FinishReason.FINISH_REASON_STOP_STRING],
  ["max_tokens", FinishReason.FINISH_REASON_LENGTH],
  ["model_context_window_exceeded", FinishReason.FINISH_REASON_LENGTH],
  ["tool_use", FinishReason.FINISH_REASON_TOOL_CALLS],
  ["refusal", FinishReason.FINISH_REASON_BLOCKED],
];

/** The reason, as far as it fits what came: an answer with calls waits for their results, and no other does. */
export function fittingReason(reason: FinishReason, hasCalls: boolean): FinishReason {
  const isPlain = reason === FinishReason.FINISH_REASON_END || reason === FinishReason.FINISH_REASON_UNSPECIFIED;
  if (isPlain && hasCalls) return FinishReason.FINISH_REASON_TOOL_CALLS;
  const isCalls = reason === FinishReason.FINISH_REASON_TOOL_CALLS;
  return isCalls && !hasCalls ? FinishReason.FINISH_REASON_END : reason;
}
