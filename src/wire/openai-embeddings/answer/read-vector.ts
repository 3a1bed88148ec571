/** The numbers of a vector, from decimals or from base64 of little-endian float32. */
import { upstreamFailed } from "../../error/refusals.js";
import { listOf, parsed } from "../../json/value.js";
import type { VectorSpan } from "./read-spans.js";

export const FLOAT_BYTES = 4;

/** Throws UPSTREAM_FAILED where it is none. */
export function readVector(span: VectorSpan): number[] {
  const values = span.encoding === "base64" ? fromBase64(span.bytes) : listOf(parsed(span.bytes.toString()));
  if (values.length === 0 || !isNumbers(values)) throw upstreamFailed("its answer holds a vector without numbers");
  return values;
}

function fromBase64(quoted: Buffer): number[] {
  const bytes = Buffer.from(quoted.toString("latin1", 1, quoted.length - 1), "base64");
  if (bytes.length % FLOAT_BYTES !== 0) return [];
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, place) => bytes.readFloatLE(place * FLOAT_BYTES));
}

function isNumbers(values: readonly unknown[]): values is number[] {
  return values.every((value) => typeof value === "number" && Number.isFinite(value));
}
