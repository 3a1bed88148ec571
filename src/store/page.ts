/** Pages of a list: tokens that only we read, and the cut between a page and the next. */
import { z } from "zod";
import { GatewayError } from "../base/errors.js";
import type { Page, PageRequest } from "./store.js";

/** The most rows on one page. */
const PAGE_ROWS_MAX = 1000;

/** Where a page ended, in lists by id, of accounts, by place in the ledger, of sums, and by time. */
export const ID_CURSOR = z.string();
export const ACCOUNT_CURSOR = z.tuple([z.string().regex(/^-?\d{1,19}$/), z.string()]);
export const SEQUENCE_CURSOR = z.int();
export const SUMMARY_CURSOR = z.tuple([z.string(), z.string(), z.string(), z.string()]);
export const TIME_CURSOR = z.object({ timeMs: z.int(), id: z.string() });

/** Says where to go on in one list. A token of another list is refused there. */
export function encodeToken(list: string, cursor: unknown): string {
  return Buffer.from(JSON.stringify([list, cursor])).toString("base64url");
}

/** Undefined on the first page. Throws PARAMETER_INVALID where it is not a page token of this list. */
export function decodeToken<Cursor>(list: string, token: string, shape: z.ZodType<Cursor>): Cursor | undefined {
  if (token === "") return undefined;
  const parsed = z.tuple([z.literal(list), shape]).safeParse(parseJson(token));
  if (parsed.success) return parsed.data[1];
  const problem = "it is not a page token of this list";
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "page_token", problem });
}

/** Throws PARAMETER_INVALID where the size is no whole number from 1 to 1,000. */
export function checkSize(page: PageRequest): number {
  if (Number.isInteger(page.size) && page.size >= 1 && page.size <= PAGE_ROWS_MAX) return page.size;
  const problem = `must be an integer from 1 to ${PAGE_ROWS_MAX}`;
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param: "page_size", problem });
}

/** What the rows of one page hold at most, unless its first one alone is larger. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** Rows that are read at once: where each is as large as it may be, they are a few pages. */
const BATCH_ROWS_MAX = 64;

/**
 * Reads the rows of a page and one more, batch by batch, and stops behind what a page may hold: a list of large things
 * takes no more memory than one of small ones. `read` gives the next rows behind a place, or the first ones.
 */
export async function readPage<Row, Cursor>(
  read: (count: number, behind: Cursor | undefined) => Promise<readonly Row[]>,
  size: number,
  first: Cursor | undefined,
  cursor: (row: Row) => Cursor,
): Promise<{ readonly rows: readonly Row[]; readonly size: number }> {
  const rows: Row[] = [];
  let bytes = 0;
  for (let behind = first; rows.length <= size;) {
    const count = Math.min(BATCH_ROWS_MAX, size + 1 - rows.length);
    const batch = await read(count, behind);
    for (const row of batch) {
      bytes += bytesOf(row);
      if (bytes > PAGE_BYTES_MAX && rows.length > 0) return { rows: [...rows, row], size: rows.length };
      rows.push(row);
    }
    const last = batch.at(-1);
    if (batch.length < count || last === undefined) break;
    behind = cursor(last);
  }
  return { rows, size };
}

/** About how much memory a row takes. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return Object.values(value).reduce((sum: number, member: unknown) => sum + bytesOf(member), 0);
}

/** Makes a page of rows of which one more was read than it takes: that one says that there is a next page. */
export function cutPage<Row>(
  list: string,
  rows: readonly Row[],
  size: number,
  cursor: (row: Row) => unknown,
): Page<Row> {
  const last = rows[size - 1];
  if (rows.length <= size || last === undefined) return { rows, nextPageToken: "" };
  return { rows: rows.slice(0, size), nextPageToken: encodeToken(list, cursor(last)) };
}

function parseJson(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
