/** Why an answer ended, in the wire's words. */
import { FinishReason } from "../../../api/index.js";
import { malformedAnswer } from "../../answer/finish-words.js";

const FINISH_NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_LENGTH, "length"],
  [FinishReason.FINISH_REASON_CONTEXT_FULL, "length"],
  [FinishReason.FINISH_REASON_BLOCKED, "content_filter"],
]);

/** Throws UPSTREAM_FAILED for a malformed answer, which the wire has no word for. */
export function finishName(reason: FinishReason): string {
  if (reason === FinishReason.FINISH_REASON_MALFORMED) throw malformedAnswer();
  return FINISH_NAMES.get(reason) ?? "stop";
}
