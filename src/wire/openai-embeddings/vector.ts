/** One vector, between its numbers and the two ways to write them: decimals, or base64 of little-endian float32. */
import { GatewayError } from "../../errors.js";
import { listOf, parsed } from "../json/value.js";
import type { VectorSpan } from "./spans.js";

const FLOAT_BYTES = 4;
/** A float32 is told apart from its neighbours by nine digits, and often by fewer. */
const DIGITS = [7, 8, 9];

/** Throws UPSTREAM_FAILED where it is none. */
export function readVector(span: VectorSpan): number[] {
  const values = span.encoding === "base64" ? fromBase64(span.bytes) : listOf(parsed(span.bytes.toString()));
  if (values.length === 0 || !isNumbers(values))
    throw new GatewayError("ERROR_REASON_UPSTREAM_FAILED", { problem: "its answer holds a vector without numbers" });
  return values;
}

/** The JSON of a vector. */
export function vectorText(values: readonly number[], encoding: "float" | "base64" | undefined): string {
  if (encoding !== "base64") return `[${values.map(shortest).join(",")}]`;
  const bytes = Buffer.alloc(values.length * FLOAT_BYTES);
  for (const [place, value] of values.entries()) bytes.writeFloatLE(value, place * FLOAT_BYTES);
  return `"${bytes.toString("base64")}"`;
}

function fromBase64(quoted: Buffer): number[] {
  const bytes = Buffer.from(quoted.toString("latin1", 1, quoted.length - 1), "base64");
  if (bytes.length % FLOAT_BYTES !== 0) return [];
  return Array.from({ length: bytes.length / FLOAT_BYTES }, (_, place) => bytes.readFloatLE(place * FLOAT_BYTES));
}

/** The shortest decimal that reads as the same float32. */
function shortest(value: number): number {
  const single = Math.fround(value);
  for (const digits of DIGITS) {
    const rounded = Number(single.toPrecision(digits));
    if (Math.fround(rounded) === single) return rounded;
  }
  return single;
}

function isNumbers(values: readonly unknown[]): values is number[] {
  return values.every((value) => typeof value === "number" && Number.isFinite(value));
}
