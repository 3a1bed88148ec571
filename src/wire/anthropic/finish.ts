/** Why an answer ends, between the wire's words and the typed reasons. */
import { FinishReason } from "../../api/index.js";

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", FinishReason.FINISH_REASON_END],
  ["stop_sequence", FinishReason.FINISH_REASON_STOP_STRING],
  ["max_tokens", FinishReason.FINISH_REASON_LENGTH],
  ["model_context_window_exceeded", FinishReason.FINISH_REASON_LENGTH],
  ["tool_use", FinishReason.FINISH_REASON_TOOL_CALLS],
  ["refusal", FinishReason.FINISH_REASON_BLOCKED],
  ["pause_turn", FinishReason.FINISH_REASON_PAUSED],
]);

const WORDS: ReadonlyMap<FinishReason, string> = new Map(
  [...REASONS].toReversed().map(([word, reason]) => [reason, word]),
);

/** The reason, as far as it fits what came: an answer with calls waits for their results, and no other does. */
export function decodeReason(word: string, hasCalls: boolean): FinishReason {
  const reason = REASONS.get(word) ?? FinishReason.FINISH_REASON_END;
  return fitting(reason, hasCalls);
}

export function encodeReason(reason: FinishReason, hasCalls: boolean): string {
  return WORDS.get(fitting(reason, hasCalls)) ?? "end_turn";
}

function fitting(reason: FinishReason, hasCalls: boolean): FinishReason {
  const isPlain = reason === FinishReason.FINISH_REASON_END || reason === FinishReason.FINISH_REASON_UNSPECIFIED;
  if (isPlain && hasCalls) return FinishReason.FINISH_REASON_TOOL_CALLS;
  const isCalls = reason === FinishReason.FINISH_REASON_TOOL_CALLS;
  return isCalls && !hasCalls ? FinishReason.FINISH_REASON_END : reason;
}
