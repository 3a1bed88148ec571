/** Comparison of secrets. */
import { timingSafeEqual } from "node:crypto";

/** Compares in a time that depends on the lengths alone, so that it tells nothing of the bytes. */
export function equalInConstantTime(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}
