/** Which calls begin a request, which the limits of its key take before anything of it is read. */
import type { CallMetadata } from "../../api/channel.js";
import { type CheckCallerRequest, FrontServiceService, InferenceServiceService } from "../../api/index.js";
import { IDEMPOTENCY_HEADER } from "../../api/request-headers.js";
import { RETRY_HEADER } from "../../gateway/replay/retried-attempts.js";

const BEGINNING: ReadonlySet<string> = new Set([
  InferenceServiceService.streamGenerate.path,
  InferenceServiceService.generate.path,
  InferenceServiceService.embed.path,
  InferenceServiceService.rerank.path,
  InferenceServiceService.moderate.path,
  InferenceServiceService.streamSpeech.path,
]);

export function beginsRequest(path: string): boolean {
  return BEGINNING.has(path);
}

/** The method that a front end asks for behind its look at a caller; undefined where this is no such look. */
export function checkedFor(path: string, request: unknown): string | undefined {
  return path === FrontServiceService.checkCaller.path ? (request as CheckCallerRequest).method : undefined;
}

/** True where an answer may come again: that takes nothing of the limits. */
export function mayComeAgain(metadata: CallMetadata): boolean {
  return metadata[IDEMPOTENCY_HEADER] !== undefined || (metadata[RETRY_HEADER] ?? "0") !== "0";
}
