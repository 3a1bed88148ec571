/** Why an answer ends, in the typed reasons. */
import { FinishReason } from "../../../api/index.js";
import { fittingReason, REASONS as CLAUDES } from "../../claude/answer/finish.js";

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  // Of Anthropic's own words the reference does not name the one for a refusal, should it come through.
  ...CLAUDES,
  ["content_filtered", FinishReason.FINISH_REASON_BLOCKED],
  ["guardrail_intervened", FinishReason.FINISH_REASON_BLOCKED],
  ["malformed_model_output", FinishReason.FINISH_REASON_MALFORMED],
  ["malformed_tool_use", FinishReason.FINISH_REASON_MALFORMED],
]);

export function decodeReason(word: string, hasCalls: boolean): FinishReason {
  if (word === "") return FinishReason.FINISH_REASON_UNSPECIFIED;
  return fittingReason(REASONS.get(word) ?? FinishReason.FINISH_REASON_END, hasCalls);
}
