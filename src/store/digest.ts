/** Digests of rows that change, so that the proof finds a byte that was changed in one. */
import { asBuffer } from "../base/bytes/bytes.js";
import { hash } from "node:crypto";

export type DigestedValue = string | number | bigint | Uint8Array | null;

/** The SHA-256 over the values of a row. A JSON list of texts has one spelling, whatever a text holds. */
export function digestOf(...values: readonly DigestedValue[]): Buffer {
  return hash("sha256", JSON.stringify(values.map(spelled)), "buffer");
}

function spelled(value: DigestedValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? hexOf(value) : String(value);
}

/** Bytes of the database as hex digits. */
export function hexOf(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("hex");
}
