/** The refusals that every wire has cause for. */
import { GatewayError } from "../../base/errors.js";

/** The answer of an upstream is none, or is no answer of its wire. */
export function upstreamFailed(problem: string, cause?: unknown): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem }, cause === undefined ? undefined : { cause });
}

/** Codings that an answer is compressed by. Other words in their place are no codings, and their bytes are read. */
const COMPRESSED = /^\s*(?:x-)?(?:gzip|deflate|br|zstd|compress)\b/i;

/** Throws UPSTREAM_FAILED where an answer is compressed: every request says that it must not be. */
export function refuseCompressed(headers: Readonly<Record<string, string>>): void {
  const coding = COMPRESSED.exec(headers["content-encoding"] ?? "")?.[0]
    .trim()
    .toLowerCase();
  if (coding === undefined) return;
  throw upstreamFailed(`its answer is compressed by ${coding}, though the request says 'accept-encoding: identity'`);
}

/** What reading an answer threw: our own refusals as they are, and of anything else that the answer was at fault. */
export function unreadable(error: unknown): GatewayError {
  return error instanceof GatewayError ? error : upstreamFailed("its answer cannot be read", error);
}

/** Reads what an upstream said: where that throws, it is the upstream's answer that cannot be read. */
export function readable<Read>(read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw unreadable(error);
  }
}

/** A request asks for what the model, or the wire that leads to it, cannot do. */
export function unsupported(param: string, problem: string, { model }: { readonly model: string }): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param, problem, model });
}
