/** Pages of lists. */
import type { PageRequest } from "../../store/store.js";
import { invalid } from "../../api/check.js";

/** The most rows of one page. */
const PAGE_SIZE_MAX = 1_000;
const PAGE_SIZE_DEFAULT = 100;

interface PageAsked {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** A page of rows that a database holds, by their ids. */
interface IdPage {
  /** Empty on the first page. */
  readonly afterId: string;
  readonly size: number;
}

/** A page of what the settings name, in the order of its ids. A size of 0 is all of it. */
export function pageById<Row extends { readonly id: string }>(
  all: readonly Row[],
  { pageSize, pageToken }: PageAsked,
  letter: string,
): { readonly rows: readonly Row[]; readonly nextPageToken: string } {
  const size = sizeOf(pageSize);
  const after = idIn(pageToken, letter);
  const rest = after === undefined ? all : all.filter(({ id }) => id > after);
  const rows = size === 0 ? rest : rest.slice(0, size);
  const last = rows.length < rest.length ? rows.at(-1) : undefined;
  const nextPageToken = last === undefined ? "" : tokenOf(letter, last.id);
  return { rows, nextPageToken };
}

/** Which page of a list by ids a request asks for: one row more than it takes says that there is a next one. */
export function idPageOf({ pageSize, pageToken }: PageAsked, letter: string): IdPage {
  return { afterId: idIn(pageToken, letter) ?? "", size: sizeOf(pageSize) || PAGE_SIZE_MAX };
}

/** The page of rows of which one more was read than it takes. */
export function cutById<Row>(
  found: readonly Row[],
  { size }: IdPage,
  letter: string,
  idOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly nextPageToken: string } {
  const last = found.length > size ? found[size - 1] : undefined;
  if (last === undefined) return { rows: found, nextPageToken: "" };
  return { rows: found.slice(0, size), nextPageToken: tokenOf(letter, idOf(last)) };
}

function tokenOf(letter: string, id: string): string {
  return Buffer.from(`${letter}:${id}`).toString("base64url");
}

/** The id after which a page begins. It need not exist any more. */
function idIn(token: string, letter: string): string | undefined {
  if (token === "") return undefined;
  const text = Buffer.from(token, "base64url").toString();
  if (!text.startsWith(`${letter}:`)) throw invalid("page_token", "is not the next_page_token of an earlier response");
  return text.slice(letter.length + 1);
}

/** Which page a request asks for. A size of 0 is the default. */
export function pageOf(request: PageAsked): PageRequest {
  return { size: sizeOf(request.pageSize) || PAGE_SIZE_DEFAULT, token: request.pageToken };
}

/** A page may always hold fewer rows than were asked for, so that too many are as many as there may be. */
function sizeOf(pageSize: number): number {
  if (pageSize < 0) throw invalid("page_size", "must not be below 0");
  return Math.min(pageSize, PAGE_SIZE_MAX);
}
