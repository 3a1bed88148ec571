/** Lists of keys: filtered, newest first, page by page. */
import type { TimeCursor } from "./calls.js";

/** Absent parts narrow nothing. */
export interface KeyFilter {
  readonly accountId?: string | undefined;
  /** In the name, the hint or the id, in any case of its letters. */
  readonly text?: string | undefined;
  /** True: those that were revoked. False: the others. */
  readonly isRevoked?: boolean | undefined;
  /** Leaves out those whose ids begin so. */
  readonly idsWithout?: string | undefined;
  /** True: those that a settings file manages, and those that it disabled. */
  readonly isOfFile?: true | undefined;
}

export interface KeyQuery {
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** Before the first row: no time is later. */
const FIRST: TimeCursor = { timeMs: Number.MAX_SAFE_INTEGER, id: "" };

/** What a key is found by. One form of each letter is stored, so that every database finds the same. */
export function searchTextOf(name: string, hint: string, id: string): string {
  return `${name} ${hint} ${id}`.toLowerCase();
}

export function keyQuery(filter: KeyFilter, count: number, before: TimeCursor | undefined): KeyQuery {
  const values: Record<string, string | number> = { count, ...(before ?? FIRST) };
  const conditions = ["(create_time_ms, id) < (:timeMs, :id)"];
  if (filter.accountId !== undefined) {
    values["accountId"] = filter.accountId;
    conditions.push("account_id = :accountId");
  }
  if (filter.text !== undefined) {
    values["text"] = `%${filter.text.toLowerCase().replaceAll(/[\\%_]/g, "\\$&")}%`;
    conditions.push("search_text LIKE :text ESCAPE '\\'");
  }
  if (filter.isRevoked !== undefined) conditions.push(`revoke_time_ms IS ${filter.isRevoked ? "NOT " : ""}NULL`);
  if (filter.idsWithout !== undefined) {
    values["start"] = filter.idsWithout;
    conditions.push(`substr(id, 1, ${filter.idsWithout.length}) <> :start`);
  }
  if (filter.isOfFile) conditions.push("file_state <> ''");
  const where = conditions.join(" AND ");
  const text = `SELECT * FROM key WHERE ${where} ORDER BY create_time_ms DESC, id DESC LIMIT :count`;
  return { text, values };
}
