/** Why an answer ended, in the wire's words. */
import { FinishReason } from "../../../api/index.js";

const FINISH_NAMES: ReadonlyMap<FinishReason, string> = new Map([
  [FinishReason.FINISH_REASON_LENGTH, "length"],
  [FinishReason.FINISH_REASON_BLOCKED, "content_filter"],
]);

export function finishName(reason: FinishReason): string {
  return FINISH_NAMES.get(reason) ?? "stop";
}
