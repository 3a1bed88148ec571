/** Writes a vector as decimals, or as base64 of little-endian float32. */
import { FLOAT_BYTES } from "./read-vector.js";

/** A float32 is told apart from its neighbours by nine digits, and often by fewer. */
const DIGITS = [7, 8, 9];

/** The JSON of a vector. */
export function vectorText(values: readonly number[], encoding: "float" | "base64" | undefined): string {
  if (encoding !== "base64") return `[${values.map(shortest).join(",")}]`;
  const bytes = Buffer.alloc(values.length * FLOAT_BYTES);
  for (const [place, value] of values.entries()) bytes.writeFloatLE(value, place * FLOAT_BYTES);
  return `"${bytes.toString("base64")}"`;
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
