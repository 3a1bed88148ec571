/** Why an answer ended, in the wire's words. */
import { FinishReason } from "../../../api/index.js";
import { malformedAnswer } from "../../answer/finish-words.js";

/** What is not named here is `stop`. */
const FINISH_NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_LENGTH, "length"],
  [FinishReason.FINISH_REASON_CONTEXT_FULL, "length"],
  [FinishReason.FINISH_REASON_TOOL_CALLS, "tool_calls"],
  [FinishReason.FINISH_REASON_BLOCKED, "content_filter"],
]);

/**
 * The word for a client; `isOlder` of one that reads a call as `function_call`. Throws UPSTREAM_FAILED for a malformed
 * answer: the wire has no word for it, and `stop` would call it finished.
 */
export function finishName(reason: FinishReason, isOlder: boolean): string {
  if (reason === FinishReason.FINISH_REASON_MALFORMED) throw malformedAnswer();
  if (isOlder && reason === FinishReason.FINISH_REASON_TOOL_CALLS) return "function_call";
  return FINISH_NAMES.get(reason) ?? "stop";
}
