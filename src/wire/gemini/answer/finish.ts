/** Why a candidate ended, both directions. */
import { FinishReason } from "../../../api/index.js";

const BLOCKED = FinishReason.FINISH_REASON_BLOCKED;
const MALFORMED = FinishReason.FINISH_REASON_MALFORMED;

const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["STOP", FinishReason.FINISH_REASON_END],
  ["MAX_TOKENS", FinishReason.FINISH_REASON_LENGTH],
  ["CONTINUATION", FinishReason.FINISH_REASON_PAUSED],
  ["SAFETY", BLOCKED],
  ["RECITATION", BLOCKED],
  ["LANGUAGE", BLOCKED],
  ["BLOCKLIST", BLOCKED],
  ["PROHIBITED_CONTENT", BLOCKED],
  ["SPII", BLOCKED],
  ["IMAGE_SAFETY", BLOCKED],
  ["IMAGE_PROHIBITED_CONTENT", BLOCKED],
  ["IMAGE_RECITATION", BLOCKED],
  ["IMAGE_OTHER", BLOCKED],
  ["NO_IMAGE", MALFORMED],
  ["MALFORMED_FUNCTION_CALL", MALFORMED],
  ["UNEXPECTED_TOOL_CALL", MALFORMED],
  ["TOO_MANY_TOOL_CALLS", MALFORMED],
  ["MALFORMED_RESPONSE", MALFORMED],
]);

const NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_UNSPECIFIED, "OTHER"],
  [FinishReason.FINISH_REASON_LENGTH, "MAX_TOKENS"],
  [FinishReason.FINISH_REASON_PAUSED, "CONTINUATION"],
  [BLOCKED, "SAFETY"],
  [MALFORMED, "MALFORMED_RESPONSE"],
]);

/** The reason; calls of tools end with STOP on this wire. A name that nobody knows says nothing. */
export function decodeFinish(name: string, hasCalls: boolean): FinishReason {
  const reason = REASONS.get(name) ?? FinishReason.FINISH_REASON_UNSPECIFIED;
  return reason === FinishReason.FINISH_REASON_END && hasCalls ? FinishReason.FINISH_REASON_TOOL_CALLS : reason;
}

export function encodeFinish(reason: FinishReason): string {
  return NAMES.get(reason) ?? "STOP";
}
