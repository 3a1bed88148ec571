/** Why a candidate ended, both directions. */
import { FinishReason } from "../../../api/index.js";
import { finishReasonOf } from "../../answer/finish-words.js";

const NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_UNSPECIFIED, "OTHER"],
  [FinishReason.FINISH_REASON_LENGTH, "MAX_TOKENS"],
  [FinishReason.FINISH_REASON_CONTEXT_FULL, "MAX_TOKENS"],
  [FinishReason.FINISH_REASON_PAUSED, "CONTINUATION"],
  [FinishReason.FINISH_REASON_BLOCKED, "SAFETY"],
  [FinishReason.FINISH_REASON_MALFORMED, "MALFORMED_RESPONSE"],
]);

/** The reason; calls of tools end with STOP on this wire. A name that says nothing is as if no reason came. */
export function decodeFinish(name: string, hasCalls: boolean): FinishReason {
  const reason = finishReasonOf(name, FinishReason.FINISH_REASON_UNSPECIFIED);
  return reason === FinishReason.FINISH_REASON_END && hasCalls ? FinishReason.FINISH_REASON_TOOL_CALLS : reason;
}

export function encodeFinish(reason: FinishReason): string {
  return NAMES.get(reason) ?? "STOP";
}
