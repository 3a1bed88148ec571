/** Reads what an upstream counted of a request's input. */
import { objectOf, parsed } from "../json/value.js";

/** The count by the wire's name of it. Throws where the body holds none. */
export function countIn(body: Buffer, name: string): number {
  const count = objectOf(parsed(body.toString()))?.[name];
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
  throw new Error("the count cannot be read");
}
