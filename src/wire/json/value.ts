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
