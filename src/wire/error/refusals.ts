/** The refusals that every wire has cause for. */
import { GatewayError } from "../../errors.js";

/** The answer of an upstream is none, or is no answer of its wire. */
export function upstreamFailed(problem: string, cause?: unknown): GatewayError {
  return new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem }, cause === undefined ? undefined : { cause });
}

/** What reading an answer threw: our own refusals as they are, and of anything else that the answer was at fault. */
export function unreadable(error: unknown): GatewayError {
  return error instanceof GatewayError ? error : upstreamFailed("its answer cannot be read", error);
}

/** A request asks for what the model, or the wire that leads to it, cannot do. */
export function unsupported(param: string, problem: string, { model }: { readonly model: string }): GatewayError {
  return new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param, problem, model });
}
