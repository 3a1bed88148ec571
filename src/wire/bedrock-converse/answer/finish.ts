/** Why an answer ends, in the typed reasons. */
import { FinishReason } from "../../../api/index.js";
import { finishReasonOf, fittingReason } from "../../answer/finish-words.js";

export function decodeReason(word: string, hasCalls: boolean): FinishReason {
  if (word === "") return FinishReason.FINISH_REASON_UNSPECIFIED;
  return fittingReason(finishReasonOf(word, FinishReason.FINISH_REASON_END), hasCalls);
}
