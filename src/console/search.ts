/** What pages keep in the search of their URL, read from whatever a person may have typed there. */

type Given = Readonly<Record<string, unknown>>;

/** A text; absent where it is empty. */
export function textIn(given: Given, name: string): string | undefined {
  const value = given[name];
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** One of some words; absent where it is none of them. */
export function wordIn<Word extends string>(given: Given, name: string, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === given[name]);
}

/** A number of days that the pages offer; absent where it is none of them. */
export function daysIn(given: Given): Days | undefined {
  return DAYS.find((days) => days === Number(given["days"]));
}

export const DAYS = [1, 7, 30, 90] as const;
export type Days = (typeof DAYS)[number];

/** The members that are there, so that a URL shows only what differs from the default. */
export function present<Members extends object>(members: Members): Partial<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined && value !== "" && value !== false);
  // The edge: a subset of the members has a subset of their types.
  return Object.fromEntries(entries) as Partial<Members>;
}
