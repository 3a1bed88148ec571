/** Texts with a NUL, which SQLite's package ends there and PostgreSQL refuses: another character stands in for it. */

/** In the database this character and an `n` stand for a NUL, and two of it for itself. */
export const STAND_IN = "\uE000";

export function needsStandIn(text: string): boolean {
  return text.includes("\0") || text.includes(STAND_IN);
}

export function withoutNul(text: string): string {
  return text.replaceAll(STAND_IN, STAND_IN + STAND_IN).replaceAll("\0", `${STAND_IN}n`);
}

export function withNul(text: string): string {
  return text.replaceAll(/\uE000(.)/g, (_, mark: string) => (mark === "n" ? "\0" : STAND_IN));
}
