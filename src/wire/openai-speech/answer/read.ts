/** Reads an answer that came as JSON although sound was asked for. */
import { upstreamFailed } from "../../error/refusals.js";

/** Throws UPSTREAM_FAILED: JSON is no sound. */
export function decodeAnswer(): never {
  throw upstreamFailed("it answered with JSON in place of sound");
}
