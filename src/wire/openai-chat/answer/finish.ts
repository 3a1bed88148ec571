/** Why an answer ended, in the wire's words. */
import { FinishReason } from "../../../api/index.js";

/** What is not named here is `stop`. */
export const FINISH_NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_LENGTH, "length"],
  [FinishReason.FINISH_REASON_TOOL_CALLS, "tool_calls"],
  [FinishReason.FINISH_REASON_BLOCKED, "content_filter"],
]);

/** The word for a client; `isOlder` of one that reads a call as `function_call`. */
export function finishName(reason: FinishReason, isOlder: boolean): string {
  if (isOlder && reason === FinishReason.FINISH_REASON_TOOL_CALLS) return "function_call";
  return FINISH_NAMES.get(reason) ?? "stop";
}

/** The same, with the words of every dialect that is known. */
export const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", FinishReason.FINISH_REASON_END],
  ["length", FinishReason.FINISH_REASON_LENGTH],
  ["max_tokens", FinishReason.FINISH_REASON_LENGTH],
  ["model_length", FinishReason.FINISH_REASON_LENGTH],
  ["tool_calls", FinishReason.FINISH_REASON_TOOL_CALLS],
  ["tool_use", FinishReason.FINISH_REASON_TOOL_CALLS],
  ["function_call", FinishReason.FINISH_REASON_TOOL_CALLS],
  ["content_filter", FinishReason.FINISH_REASON_BLOCKED],
  ["safety", FinishReason.FINISH_REASON_BLOCKED],
]);
