/** One count of tokens as an upstream tells it. */
import type { JsonObject } from "../json/value.js";

/** More than any request can use: what is above is no count. */
export const TOKENS_MAX = 1e12;

/** The count, rounded down; undefined where the value is none. */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= TOKENS_MAX ? Math.floor(value) : undefined;
}

/** True where one of these members of a usage is no number of tokens: negative, a fraction, a text, endless. */
export function hasBrokenCount(usage: JsonObject | undefined, names: readonly string[]): boolean {
  if (usage === undefined) return false;
  for (const name of names) {
    const value = usage[name];
    if (value !== undefined && value !== null && !(Number.isInteger(value) && tokenCount(value) !== undefined))
      return true;
  }
  return false;
}
