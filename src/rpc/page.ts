/** Pages of lists. */
import type { PageRequest } from "../store/store.js";
import { invalid } from "./check.js";

/** The most rows of one page. */
const PAGE_SIZE_MAX = 1_000;
const PAGE_SIZE_DEFAULT = 100;

interface PageAsked {
  readonly pageSize: number;
  readonly pageToken: string;
}

/** A page of what the settings name, in the order of its ids. A size of 0 is all of it. */
export function pageById<Row extends { readonly id: string }>(
  all: readonly Row[],
  { pageSize, pageToken }: PageAsked,
  letter: string,
): { readonly rows: readonly Row[]; readonly nextPageToken: string } {
  if (pageSize < 0 || pageSize > PAGE_SIZE_MAX) throw invalid("page_size", `must be from 0 to ${PAGE_SIZE_MAX}`);
  const after = idIn(pageToken, letter);
  const rest = after === undefined ? all : all.filter(({ id }) => id > after);
  const rows = pageSize === 0 ? rest : rest.slice(0, pageSize);
  const last = rows.length < rest.length ? rows.at(-1) : undefined;
  const nextPageToken = last === undefined ? "" : Buffer.from(`${letter}:${last.id}`).toString("base64url");
  return { rows, nextPageToken };
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
  if (request.pageSize < 0 || request.pageSize > PAGE_SIZE_MAX) {
    throw invalid("page_size", `must be from 1 to ${PAGE_SIZE_MAX}, or 0 for ${PAGE_SIZE_DEFAULT}`);
  }
  return { size: request.pageSize === 0 ? PAGE_SIZE_DEFAULT : request.pageSize, token: request.pageToken };
}
