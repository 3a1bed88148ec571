/** Why an answer ends, between the wire's words and the typed reasons. */
import { FinishReason } from "../../../api/index.js";
import { fittingReason, REASONS as CLAUDES } from "../../claude/answer/finish.js";

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ...CLAUDES,
  ["pause_turn", FinishReason.FINISH_REASON_PAUSED],
]);

const WORDS: ReadonlyMap<FinishReason, string> = new Map(
  [...REASONS].toReversed().map(([word, reason]) => [reason, word]),
);

export function decodeReason(word: string, hasCalls: boolean): FinishReason {
  return fittingReason(REASONS.get(word) ?? FinishReason.FINISH_REASON_END, hasCalls);
}

export function encodeReason(reason: FinishReason, hasCalls: boolean): string {
  return WORDS.get(fittingReason(reason, hasCalls)) ?? "end_turn";
}
