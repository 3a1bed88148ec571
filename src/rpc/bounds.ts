/** The sizes that this edge takes. */
import { GatewayError } from "../errors.js";

/** The most bytes of a client's own body. */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;
/** The most bytes of one message that comes through a tunnel, in pieces: a body with what stands around it. */
export const MESSAGE_BYTES_MAX = 40 * 1024 * 1024;
/** The most bytes of one gRPC message that comes in by itself: grpc-js joins it in one go, which holds the loop. */
export const GRPC_MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
/**
 * The most bytes of one that goes out. An answer is bounded where it is read from its upstream, at 64 MiB, and may grow
 * where it is written anew: here none that was charged may be too large.
 */
export const ANSWER_BYTES_MAX = 320 * 1024 * 1024;

/** The refusal of a body that is too large. */
export function bodyTooLarge(limitBytes = BODY_BYTES_MAX, cause?: Error): GatewayError {
  const options = cause === undefined ? undefined : { cause };
  return new GatewayError("ERROR_REASON_BODY_TOO_LARGE", { limit_bytes: String(limitBytes) }, options);
}
