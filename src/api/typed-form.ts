/** The typed form of a request as a body of its own: where it is long, it is read where long bodies are. */

/** What stands for a wire there. No client sends it. */
export const TYPED_FORM = "tollgate.v1.Generation";
/** A longer one is not decoded on the event loop: its parts may be as small as four bytes. */
export const TYPED_BYTES_MAX = 64 * 1024;
