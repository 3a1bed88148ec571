/** The sizes of messages that this edge takes. */

/** The most bytes of one message that comes through a tunnel, in pieces: a body with what stands around it. */
export const MESSAGE_BYTES_MAX = 40 * 1024 * 1024;
/** The most bytes of one gRPC message that comes in by itself: grpc-js joins it in one go, which holds the loop. */
export const GRPC_MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
/**
 * The most bytes of one that goes out. An answer is bounded where it is read from its upstream, at 64 MiB, and may grow
 * where it is written anew: here none that was charged may be too large.
 */
export const ANSWER_BYTES_MAX = 320 * 1024 * 1024;
