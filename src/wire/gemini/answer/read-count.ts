/** Reads the count of a request's input. */
import { countIn } from "../../answer/count.js";

/** Throws where the body is none. */
export function readCount(body: Buffer): number {
  return countIn(body, "totalTokens");
}
