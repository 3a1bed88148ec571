/** What pages keep in the search of their URL, read from whatever a person may have typed there. */
import { AUDIT_RESULTS, REQUEST_STATES } from "./states.ts";

export type Given = Readonly<Record<string, unknown>>;

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

/** What the pages of alerts show. */
export interface AlertSearch {
  readonly show?: "webhooks" | "deliveries" | undefined;
  readonly page?: string | undefined;
}

/** The texts of the filters of requests, under the names that the URL gives them. */
export const REQUEST_TEXTS = ["key", "model", "upstream", "reason", "user", "tag", "find"] as const;
/** The filters of requests that are typed as numbers, amounts and times. */
export const REQUEST_BOUNDS = ["status", "leastCost", "mostCost", "leastMs", "mostMs", "from", "to"] as const;
export type RequestFilter = (typeof REQUEST_TEXTS)[number] | (typeof REQUEST_BOUNDS)[number];

/** The filters of the log of requests, and the page of it. */
export type RequestSearch = { readonly [Name in RequestFilter | "page"]?: string } & {
  readonly state?: RequestFilterState;
  /** Only requests that failed. */
  readonly failed?: "yes";
};
type RequestFilterState = (typeof REQUEST_STATES)[number];

export function requestSearch(given: Given): RequestSearch {
  const texts = textsIn(given, [...REQUEST_TEXTS, ...REQUEST_BOUNDS, "page"]);
  const state = wordIn(given, "state", REQUEST_STATES);
  const failed = wordIn(given, "failed", ["yes"]);
  return { ...texts, ...(state && { state }), ...(failed && { failed }) };
}

export const AUDIT_TEXTS = ["from", "to", "actor", "method", "resource"] as const;

/** The filters of the audit log, and the page of it. */
export type AuditSearch = { readonly [Name in (typeof AUDIT_TEXTS)[number] | "page"]?: string } & {
  readonly result?: (typeof AUDIT_RESULTS)[number];
};

export function auditSearch(given: Given): AuditSearch {
  const texts = textsIn(given, [...AUDIT_TEXTS, "page"]);
  const result = wordIn(given, "result", AUDIT_RESULTS);
  return result === undefined ? texts : { ...texts, result };
}

function textsIn<Name extends string>(given: Given, names: readonly Name[]): { readonly [One in Name]?: string } {
  const texts = names.map((name) => [name, textIn(given, name)]).filter(([, text]) => text !== undefined);
  // The edge: each name that is there has its text.
  return Object.fromEntries(texts) as { readonly [One in Name]?: string };
}
