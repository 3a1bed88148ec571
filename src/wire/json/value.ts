/** Looks at parsed JSON that nobody vouches for: each look says what a value is, or that it is something else. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; undefined where it is none. Arrays are none. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The value as a list; empty where it is none. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; empty where it is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Text that is JSON, parsed; undefined where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value as a place in a list of fewer than `countMax`; undefined where it is none. */
export function placeOf(value: unknown, countMax: number): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < countMax ? value : undefined;
}

/** The value as a time, of seconds since 1970; undefined where it is none, such as one of milliseconds. */
export function timeOf(value: unknown): Date | undefined {
  return typeof value === "number" && value > 0 && value < 1e11 ? new Date(Math.floor(value) * 1000) : undefined;
}
