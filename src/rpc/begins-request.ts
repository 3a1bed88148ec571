/** Which calls begin a request, which the limits of its key take before anything of it is read. */
import type { CallMetadata } from "../api/channel.js";
import { InferenceServiceService } from "../api/index.js";
import { IDEMPOTENCY_HEADER } from "../gateway/replay/keyed-answers.js";
import { RETRY_HEADER } from "../gateway/replay/retried-attempts.js";

const BEGINNING: ReadonlySet<string> = new Set([
  InferenceServiceService.streamGenerate.path,
  InferenceServiceService.generate.path,
  InferenceServiceService.embed.path,
]);

/** False also where an answer may come again: that takes nothing of the limits, and only its body tells. */
export function beginsRequest(path: string, metadata: CallMetadata): boolean {
  if (!BEGINNING.has(path) || metadata[IDEMPOTENCY_HEADER] !== undefined) return false;
  return (metadata[RETRY_HEADER] ?? "0") === "0";
}
